// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * A single-threaded source that reuses sessions. Logging in and starting a session costs a server
 * more than a short transaction does. The next connection therefore reuses the session of a
 * connection that was closed after a rollback. Every 16th session ends with its connection. A
 * reused session must have the settings of a new session.
 */
final class KeptConnections implements Transactions.Source, AutoCloseable {

    private static final int USES = 16;

    private final Transactions.Source source;
    private Connection kept; // Null if there is none.
    private Settings atBegin; // The settings of a new session.
    private int uses;

    KeptConnections(Transactions.Source source) {
        this.source = source;
    }

    /** The settings that a user may change, but must not leave to the next user. */
    private record Settings(boolean autoCommit, int isolation, boolean readOnly) {
        static Settings of(Connection session) throws SQLException {
            return new Settings(
                    session.getAutoCommit(),
                    session.getTransactionIsolation(),
                    session.isReadOnly());
        }
    }

    @Override
    public Connection open() throws SQLException {
        return proxy(kept == null ? newSession() : keptSession());
    }

    private Connection newSession() throws SQLException {
        Connection session = source.open();
        atBegin = Settings.of(session);
        return session;
    }

    private Connection keptSession() throws SQLException {
        Connection session = kept;
        kept = null;
        assertEquals(atBegin, Settings.of(session), "the settings of a reused session");
        return session;
    }

    private Connection proxy(Connection session) {
        return (Connection)
                Proxy.newProxyInstance(
                        Connection.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, arguments) -> invoke(session, method, arguments));
    }

    private Object invoke(Connection session, Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("close")) {
            release(session);
            return null;
        }
        try {
            return method.invoke(session, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private void release(Connection session) throws SQLException {
        uses = (uses + 1) % USES;
        if (kept != null || uses == 0) {
            session.close();
            return;
        }
        if (!session.getAutoCommit()) {
            session.rollback();
            session.setAutoCommit(true);
        }
        kept = session;
    }

    @Override
    public void close() throws SQLException {
        if (kept != null) {
            kept.close();
        }
    }
}
