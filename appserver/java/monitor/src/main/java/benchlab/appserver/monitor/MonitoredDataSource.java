// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Wraps a data source, such as a connection pool, so that a {@link Monitor} records the statements
 * of its connections.
 *
 * <p>The time of an execution is the duration of the call. It does not include rows that a driver
 * fetches later, in {@link java.sql.ResultSet#next}. {@code commit} and {@code rollback} of a
 * connection count as the queries {@code COMMIT} and {@code ROLLBACK}. A batch counts as one
 * execution. Result sets and metadata are the driver's: {@code getStatement} of a result set and
 * {@code getConnection} of metadata return the driver's objects, whose statements are not recorded.
 *
 * <p>The names of queries contain no literals: the first statement of a connection determines the
 * {@link TextRules#of rules} for all of its statements.
 */
public final class MonitoredDataSource implements DataSource {

    private final DataSource inner;
    private final Monitor monitor;
    private final Query commit;
    private final Query rollback;

    /**
     * Wraps a data source.
     *
     * @param inner the data source to wrap
     * @param monitor records the statements
     */
    public MonitoredDataSource(DataSource inner, Monitor monitor) {
        this.inner = Objects.requireNonNull(inner, "inner");
        this.monitor = Objects.requireNonNull(monitor, "monitor");
        commit = monitor.query("COMMIT");
        rollback = monitor.query("ROLLBACK");
    }

    @Override
    public Connection getConnection() throws SQLException {
        return monitored(inner.getConnection());
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return monitored(inner.getConnection(user, password));
    }

    private Connection monitored(Connection connection) {
        return proxy(Connection.class, new ConnectionHandler(connection));
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return inner.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        inner.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        inner.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return inner.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws java.sql.SQLFeatureNotSupportedException {
        return inner.getParentLogger();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return type.isInstance(inner) ? type.cast(inner) : inner.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(inner) || inner.isWrapperFor(type);
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(
                        MonitoredDataSource.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /**
     * The common methods of all proxies: a proxy equals only itself and unwraps to the wrapped
     * object.
     */
    private abstract class Handler implements InvocationHandler {
        final Object inside;

        Handler(Object inside) {
            this.inside = inside;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            switch (method.getName()) {
                case "equals":
                    return proxy == arguments[0];
                case "hashCode":
                    return System.identityHashCode(proxy);
                case "unwrap":
                    if (((Class<?>) arguments[0]).isInstance(inside)) {
                        return inside;
                    }
                    return call(method, arguments);
                case "isWrapperFor":
                    return ((Class<?>) arguments[0]).isInstance(inside)
                            || (boolean) call(method, arguments);
                default:
                    return answer(proxy, method, arguments);
            }
        }

        abstract Object answer(Object proxy, Method method, Object[] arguments) throws Throwable;

        final Object call(Method method, Object[] arguments) throws Throwable {
            try {
                return method.invoke(inside, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        final Object counted(Query query, Method method, Object[] arguments) throws Throwable {
            long started = System.nanoTime();
            boolean isDone = false;
            try {
                Object result = call(method, arguments);
                isDone = true;
                return result;
            } finally {
                monitor.record(query, System.nanoTime() - started, !isDone);
            }
        }
    }

    private final class ConnectionHandler extends Handler {
        private volatile @Nullable TextRules rules;

        ConnectionHandler(Connection inside) {
            super(inside);
        }

        @Override
        Object answer(Object proxy, Method method, Object[] arguments) throws Throwable {
            switch (method.getName()) {
                case "prepareStatement":
                    return statement(PreparedStatement.class, proxy, method, arguments);
                case "prepareCall":
                    return statement(CallableStatement.class, proxy, method, arguments);
                case "createStatement":
                    return proxy(
                            Statement.class,
                            new StatementHandler(
                                    call(method, arguments), null, proxy, rules()));
                case "commit":
                    return counted(commit, method, arguments);
                case "rollback":
                    return counted(rollback, method, arguments);
                default:
                    return call(method, arguments);
            }
        }

        private Object statement(Class<?> type, Object proxy, Method method, Object[] arguments)
                throws Throwable {
            Query query = monitor.query((String) arguments[0], rules());
            return proxy(
                    type, new StatementHandler(call(method, arguments), query, proxy, rules()));
        }

        private TextRules rules() {
            TextRules known = rules;
            if (known == null) {
                known = TextRules.of((Connection) inside);
                rules = known;
            }
            return known;
        }
    }

    private final class StatementHandler extends Handler {
        private final Object connection;
        private final TextRules rules;

        /** The query of a prepared statement; null for other statements. */
        private final @Nullable Query prepared;

        private @Nullable Query batch;

        StatementHandler(
                Object inside, @Nullable Query prepared, Object connection, TextRules rules) {
            super(inside);
            this.prepared = prepared;
            this.connection = connection;
            this.rules = rules;
        }

        @Override
        Object answer(Object proxy, Method method, Object[] arguments) throws Throwable {
            switch (method.getName()) {
                case "execute", "executeQuery", "executeUpdate", "executeLargeUpdate":
                    return counted(query(arguments), method, arguments);
                case "executeBatch", "executeLargeBatch":
                    Query executed = batch == null ? query(null) : batch;
                    batch = null; // JDBC empties the batch, even if it fails.
                    return counted(executed, method, arguments);
                case "addBatch":
                    if (arguments != null && batch == null) {
                        batch = query(arguments);
                    }
                    return call(method, arguments);
                case "clearBatch":
                    batch = null;
                    return call(method, arguments);
                case "getConnection":
                    return connection;
                default:
                    return call(method, arguments);
            }
        }

        private Query query(Object @Nullable [] arguments) {
            if (arguments != null && arguments.length > 0) {
                return monitor.query((String) arguments[0], rules);
            }
            return prepared == null ? Query.OTHER : prepared;
        }
    }
}
