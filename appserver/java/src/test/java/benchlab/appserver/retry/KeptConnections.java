// SPDX-License-Identifier: Apache-2.0
// Connections whose sessions outlive most of their calls of close.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * A source for one thread. To log in and to begin a session costs a server more than a short
 * transaction: so the next connection has the session of the one that was closed, where it was
 * rolled back. Each 16th session ends with its connection. A session that is taken again must have
 * the settings of a new one.
 */
final class KeptConnections implements Transactions.Source, AutoCloseable {

    private static final int USES = 16;

    private final Transactions.Source source;
    private Connection kept; // Null: none.
    private Settings atBegin; // Of a new session.
    private int uses;

    KeptConnections(Transactions.Source source) {
        this.source = source;
    }

    /** What a use may change, and must not leave to the next one. */
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
        assertEquals(atBegin, Settings.of(session), "the settings of a session that is taken again");
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
