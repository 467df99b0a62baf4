// SPDX-License-Identifier: Apache-2.0
// Fake connections that record calls and fail on request.
package benchlab.appserver.retry;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

final class FakeConnections implements Transactions.Source {
    final List<String> calls = new ArrayList<>();
    boolean haveAutoCommit = true;
    private final Map<String, Exception> failures = new HashMap<>();
    private int opened;

    /** Makes the next call of a method fail after it has taken effect. */
    void failNext(String method, SQLException failure) {
        failures.put(method, failure);
    }

    /** Makes the next call of a method fail with an unchecked exception, as a pool might. */
    void failNext(String method, RuntimeException failure) {
        failures.put(method, failure);
    }

    @Override
    public Connection open() throws SQLException {
        String name = "c" + ++opened + ".";
        note(name + "open", "open");
        return (Connection)
                Proxy.newProxyInstance(
                        Connection.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, arguments) -> call(name, method, arguments));
    }

    private Object call(String connection, Method method, Object[] arguments) throws SQLException {
        String name = method.getName();
        if (name.equals("getAutoCommit")) {
            return haveAutoCommit;
        }
        note(connection + (name.equals("setAutoCommit") ? arguments[0] : name), name);
        return null;
    }

    private void note(String call, String method) throws SQLException {
        calls.add(call);
        Exception failure = failures.remove(method);
        if (failure instanceof RuntimeException unchecked) {
            throw unchecked;
        } else if (failure != null) {
            throw (SQLException) failure;
        }
    }
}
