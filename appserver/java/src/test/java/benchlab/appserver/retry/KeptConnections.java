// SPDX-License-Identifier: Apache-2.0
// Connections whose sessions outlive most of their calls of close.
package benchlab.appserver.retry;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * A source for one thread. To log in and to begin a session costs a server more than a short
 * transaction: so the next connection has the session of the one that was closed, where it was
 * rolled back. Each 16th session ends with its connection.
 */
final class KeptConnections implements Transactions.Source, AutoCloseable {

    private static final int USES = 16;

    private final Transactions.Source source;
    private Connection kept; // Null: none.
    private int uses;

    KeptConnections(Transactions.Source source) {
        this.source = source;
    }

    @Override
    public Connection open() throws SQLException {
        Connection session = kept == null ? source.open() : kept;
        kept = null;
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
