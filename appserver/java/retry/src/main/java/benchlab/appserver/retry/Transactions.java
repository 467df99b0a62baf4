// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs work in transactions of one database. Each transaction opens a connection and closes it
 * afterwards:
 *
 * <pre>{@code
 * var transactions = new Transactions(dataSource::getConnection);
 * }</pre>
 *
 * <p>A pool may provide the same session again, including state that a rollback does not undo:
 * session-level locks, session variables, and temporary tables of MariaDB. {@link
 * #sessionPerAttempt} prevents that.
 *
 * <p>A transaction inside another transaction of the same object, on the same thread, becomes part
 * of the outer transaction: it uses the outer connection and takes effect with the outer commit. If
 * it fails with a transient error, the outer transaction can no longer be committed, even if its
 * work catches the exception.
 */
public final class Transactions {

    private static final System.Logger LOGGER = System.getLogger(Transactions.class.getName());

    private final Source source;
    private final Eviction eviction;
    private final ThreadLocal<Session> open; // Shared with sessionPerAttempt.

    /**
     * The source of connections: a driver, or a pool to which {@code close} returns them. Their
     * autocommit mode is left unchanged; with autocommit off, MariaDB's driver saves two round
     * trips. If the policy has a {@link Policy#timeout timeout}, another thread calls the source, with
     * the context class loader of the caller, but without its thread-local state. A source that
     * selects a database by such state must read it before the call.
     */
    @FunctionalInterface
    public interface Source {
        Connection open() throws SQLException;
    }

    /**
     * Ensures that the session of a connection ends when the connection is closed, instead of being
     * reused.
     */
    @FunctionalInterface
    public interface Eviction {
        void evict(Connection connection) throws SQLException;
    }

    /** Ends a transaction after the work has returned a result, usually with a commit. */
    @FunctionalInterface
    interface Ending<T extends @Nullable Object> {
        void end(Connection connection, T result) throws SQLException;
    }

    private static final class Session {
        private final Connection connection;
        private @Nullable Exception fault; // The fault of a nested transaction.

        Session(Connection connection) {
            this.connection = connection;
        }
    }

    /**
     * Creates transactions on connections that the source opens.
     *
     * @param source opens connections
     */
    public Transactions(Source source) {
        this(source, connection -> {}, new ThreadLocal<>());
    }

    private Transactions(Source source, Eviction eviction, ThreadLocal<Session> open) {
        this.source = Objects.requireNonNull(source, "source");
        this.eviction = Objects.requireNonNull(eviction, "eviction");
        this.open = open;
    }

    /**
     * Returns transactions in which no attempt reuses the session of a failed attempt. Use this for
     * work that leaves state in its session that a rollback does not undo. Transactions of this
     * object and of the returned object can be nested in each other.
     *
     * @param evict called between the rollback and {@code close}; for example {@code
     *     hikariDataSource::evictConnection}, or {@code c -> c.abort(Runnable::run)} for a pool that
     *     drops broken connections
     * @return the transactions
     */
    public Transactions sessionPerAttempt(Eviction evict) {
        return new Transactions(source, evict, open);
    }

    /**
     * Runs work in a transaction. Commits if the work returns, and rolls back if it throws. The
     * work is not retried; use {@link Retry} for that.
     *
     * @param work the work
     * @param <T> the type of the result
     * @param <X> a checked exception of the work
     * @return the result of the work
     * @throws SQLException if the database reports an error
     * @throws X if the work fails
     * @throws OutcomeUnknownException if the connection was lost during the commit
     */
    public <T extends @Nullable Object, X extends Exception> T run(TransactionWork<T, X> work)
            throws SQLException, X {
        return run(work, (connection, result) -> connection.commit(), false);
    }

    /**
     * Runs work, and then {@code ending}, which stores the idempotency key or changes nothing. In a
     * nested transaction, {@code ending} is ignored.
     */
    <T extends @Nullable Object, X extends Exception> T run(
            TransactionWork<T, X> work, Ending<T> ending)
            throws SQLException, X {
        return run(work, ending, true);
    }

    private <T extends @Nullable Object, X extends Exception> T run(
            TransactionWork<T, X> work, Ending<T> ending, boolean hasKey) throws SQLException, X {
        Session outer = open.get();
        if (outer != null) {
            return runPart(outer, work);
        }
        RetriedCall.noteBegin();
        try {
            return runOutermost(work, ending, hasKey);
        } finally {
            RetriedCall.noteEnd();
        }
    }

    /** Returns true if this thread has an open transaction. */
    boolean isOpen() {
        return open.get() != null;
    }

    private <T extends @Nullable Object, X extends Exception> T runPart(
            Session outer, TransactionWork<T, X> work)
            throws SQLException, X {
        try {
            return work.run(outer.connection);
        } catch (Exception failure) {
            if (outer.fault == null && Faults.of(failure) != Fault.PERMANENT) {
                outer.fault = failure;
            }
            throw failure;
        }
    }

    private <T extends @Nullable Object, X extends Exception> T runOutermost(
            TransactionWork<T, X> work, Ending<T> ending, boolean hasKey) throws SQLException, X {
        try (var limit = new TimeLimit(RetriedCall.timeLeft())) {
            return runOutermost(limit, work, ending, hasKey);
        }
    }

    private <T extends @Nullable Object, X extends Exception> T runOutermost(
            TimeLimit limit, TransactionWork<T, X> work, Ending<T> ending, boolean hasKey)
            throws SQLException, X {
        Connection connection = null;
        boolean hadAutoCommit = false;
        T result;
        try {
            connection = limit.open(source);
            hadAutoCommit = connection.getAutoCommit();
            if (hadAutoCommit) {
                connection.setAutoCommit(false);
            }
            result = runOn(new Session(connection), work);
        } catch (Throwable failure) {
            RetriedCall.noteUncommitted(failure);
            rollBack(connection, hadAutoCommit);
            throw failure;
        }
        end(connection, hadAutoCommit, result, ending, hasKey);
        return result;
    }

    private <T extends @Nullable Object, X extends Exception> T runOn(
            Session session, TransactionWork<T, X> work)
            throws SQLException, X {
        open.set(session);
        try {
            T result = work.run(session.connection);
            if (session.fault != null) {
                throw new IllegalStateException("a nested transaction failed", session.fault);
            }
            return result;
        } finally {
            open.remove();
        }
    }

    private <T extends @Nullable Object> void end(
            Connection connection,
            boolean hadAutoCommit,
            T result,
            Ending<T> ending,
            boolean hasKey)
            throws SQLException {
        try {
            ending.end(connection, result);
        } catch (Throwable failure) {
            rollBack(connection, hadAutoCommit); // A rejected commit may have left it open.
            Fault fault = failure instanceof Exception lost ? Faults.of(lost) : Fault.PERMANENT;
            if (fault == Fault.CONNECTION_LOST || fault == Fault.OUTCOME_UNKNOWN) {
                noteCommit(hasKey, false);
            }
            if (fault == Fault.CONNECTION_LOST) {
                throw new OutcomeUnknownException((Exception) failure);
            }
            throw failure;
        }
        noteCommit(hasKey, true);
        close(connection, hadAutoCommit);
    }

    private static void noteCommit(boolean hasKey, boolean isKnown) {
        if (!hasKey) {
            RetriedCall.noteCommit(isKnown);
        }
    }

    /**
     * Rolls back and evicts. Failures are only logged, because they would hide the exception that
     * is being thrown.
     */
    private void rollBack(@Nullable Connection connection, boolean hadAutoCommit) {
        if (connection == null) {
            return;
        }
        try (connection) {
            try {
                connection.rollback();
                if (hadAutoCommit) {
                    connection.setAutoCommit(true); // Not after a failed rollback: it would commit.
                }
            } finally {
                eviction.evict(connection);
            }
        } catch (SQLException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "cannot roll back a transaction", e);
        }
    }

    /**
     * Closes a connection after a commit. Failures are only logged, because the commit has
     * succeeded.
     */
    private static void close(Connection connection, boolean hadAutoCommit) {
        try (connection) {
            if (hadAutoCommit) {
                connection.setAutoCommit(true);
            }
        } catch (SQLException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "cannot close a connection", e);
        }
    }
}
