// SPDX-License-Identifier: Apache-2.0
// A client's connection, as if leased from a pool.
package benchlab.retry;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

/** A connection whose {@code close} returns it to the client. It is never in autocommit mode. */
final class LeasedConnection implements InvocationHandler {

    private final Client client;
    private final Connection connection;

    private LeasedConnection(Client client) throws SQLException {
        this.client = client;
        connection = client.connection();
    }

    static Connection of(Client client) throws SQLException {
        return (Connection)
                Proxy.newProxyInstance(
                        LeasedConnection.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        new LeasedConnection(client));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        return switch (method.getName()) {
            case "close" -> null;
            case "rollback" -> {
                client.rollBack();
                yield null;
            }
            default -> forward(method, arguments);
        };
    }

    private Object forward(Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(connection, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
