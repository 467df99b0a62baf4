// SPDX-License-Identifier: Apache-2.0
// Connections that record which statements were prepared on them.
package benchlab.appserver.retry;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

final class PreparedStatements implements Transactions.Source {
    final List<String> sql = new CopyOnWriteArrayList<>();
    private final Transactions.Source source;

    PreparedStatements(Transactions.Source source) {
        this.source = source;
    }

    List<String> firstWords() {
        return sql.stream().map(statement -> statement.split(" ")[0]).toList();
    }

    @Override
    public Connection open() throws SQLException {
        Connection connection = source.open();
        return (Connection)
                Proxy.newProxyInstance(
                        Connection.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, arguments) -> invoke(connection, method, arguments));
    }

    private Object invoke(Connection connection, Method method, Object[] arguments)
            throws Throwable {
        if (method.getName().equals("prepareStatement")) {
            sql.add((String) arguments[0]);
        }
        try {
            return method.invoke(connection, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
