// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * For tests: runs an action, such as another transaction, immediately before or after a commit.
 * This lets a test produce a stale version, a serialization failure, a deadlock or a lost
 * connection deterministically:
 *
 * <pre>{@code
 * var injector = new FaultInjector(dataSource::getConnection);
 * injector.beforeNextCommit(() -> changeTheSameRecord());
 * Retry.call(policy, new Transactions(injector), connection -> changeTheRecord(connection));
 * }</pre>
 *
 * <p>The action runs on the committing thread. It must not wait for a lock of the transaction,
 * because it would wait forever, or until the database's lock timeout. To produce a deadlock, let
 * the transaction's connection request, on another thread, a row that another transaction has
 * locked.
 */
public final class FaultInjector implements Transactions.Source {

    private final Transactions.Source source;
    private final AtomicReference<Action> before = new AtomicReference<>();
    private final AtomicReference<Action> after = new AtomicReference<>();

    /**
     * An action that runs while a transaction is paused. The commit throws the exceptions of the
     * action.
     */
    @FunctionalInterface
    public interface Action {
        void run() throws SQLException;
    }

    /**
     * Wraps a source of connections.
     *
     * @param source the source of the connections
     */
    public FaultInjector(Transactions.Source source) {
        this.source = Objects.requireNonNull(source, "source");
    }

    /**
     * Runs an action once, before the next commit.
     *
     * @param action the action
     */
    public void beforeNextCommit(Action action) {
        before.set(action);
    }

    /**
     * Runs an action once, after the database has completed the next commit. An action that throws
     * a lost connection ({@code new SQLException("lost", "08006")}) makes the outcome of the commit
     * unknown.
     *
     * @param action the action
     */
    public void afterNextCommit(Action action) {
        after.set(action);
    }

    @Override
    public Connection open() throws SQLException {
        return stopped(Connection.class, source.open(), "commit");
    }

    /** Returns a proxy of {@code target}, whose method {@code committing} commits a transaction. */
    private <T> T stopped(Class<T> type, T target, String committing) {
        return type.cast(
                Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (proxy, method, arguments) ->
                                method.getName().equals(committing)
                                        ? commit(target, method, arguments)
                                        : forward(target, method, arguments)));
    }

    private Object commit(Object target, Method method, Object[] arguments) throws Throwable {
        runOnce(before);
        Object result = invoke(target, method, arguments);
        runOnce(after);
        return result;
    }

    /**
     * Forwards a call. Wraps a prepared statement that inserts a key, because it may commit, too.
     */
    private Object forward(Object target, Method method, Object[] arguments) throws Throwable {
        Object result = invoke(target, method, arguments);
        return result instanceof PreparedStatement statement
                        && IdempotencyTable.commits((String) arguments[0])
                ? stopped(PreparedStatement.class, statement, "execute")
                : result;
    }

    private static Object invoke(Object target, Method method, Object[] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static void runOnce(AtomicReference<Action> next) throws SQLException {
        Action action = next.getAndSet(null);
        if (action != null) {
            action.run();
        }
    }
}
