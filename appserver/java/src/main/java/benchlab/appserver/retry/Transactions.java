// SPDX-License-Identifier: Apache-2.0
// Transactions from their begin to their commit.
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

/**
 * Runs work in transactions of one database, each on a connection that is opened for it and closed
 * after it:
 *
 * <pre>{@code
 * var transactions = new Transactions(dataSource::getConnection);
 * }</pre>
 *
 * <p>From a pool that may be the same session again, with what a rollback does not undo: locks of
 * the session, its variables, temporary tables of MariaDB. {@link #sessionPerAttempt} ends that.
 *
 * <p>A transaction inside another one of the same object, on the same thread, is a part of that: it
 * uses its connection, and takes effect with its commit. If it fails with a transient error, the
 * outer one cannot be committed any more, also if it catches that.
 */
public final class Transactions {

    private static final System.Logger LOGGER = System.getLogger(Transactions.class.getName());

    private final Source source;
    private final Eviction eviction;
    private final ThreadLocal<Session> open; // Shared by those of sessionPerAttempt.

    /**
     * Where connections come from: a driver, or a pool to which {@code close} gives them back.
     * Their autocommit mode is left as it was; without it MariaDB's driver saves two round trips.
     */
    @FunctionalInterface
    public interface Source {
        Connection open() throws SQLException;
    }

    /** Has the session of a connection ended when that is closed, instead of used again. */
    @FunctionalInterface
    public interface Eviction {
        void evict(Connection connection) throws SQLException;
    }

    /** Ends a transaction, whose work has a result: usually by a commit. */
    @FunctionalInterface
    interface Ending<T> {
        void end(Connection connection, T result) throws SQLException;
    }

    private static final class Session {
        private final Connection connection;
        private Exception fault; // Of a part.

        Session(Connection connection) {
            this.connection = connection;
        }
    }

    /** Leaves it to the source which session an attempt has. */
    public Transactions(Source source) {
        this(source, connection -> {}, new ThreadLocal<>());
    }

    private Transactions(Source source, Eviction eviction, ThreadLocal<Session> open) {
        this.source = Objects.requireNonNull(source, "source");
        this.eviction = Objects.requireNonNull(eviction, "eviction");
        this.open = open;
    }

    /**
     * The same, but that no attempt has the session of one that failed: for work that leaves in its
     * session what a rollback does not undo. A transaction of the one inside one of the other is a
     * part of that.
     *
     * @param evict is called between the rollback and {@code close}, such as {@code
     *     hikariDataSource::evictConnection}, or {@code c -> c.abort(Runnable::run)} for a pool that
     *     drops what is broken
     */
    public Transactions sessionPerAttempt(Eviction evict) {
        return new Transactions(source, evict, open);
    }

    /**
     * Runs work in a transaction, once; commits it if the work returns, and rolls it back if that
     * throws. {@link Retry} retries calls.
     *
     * @throws OutcomeUnknownException if the connection was lost during the commit
     */
    public <T, X extends Exception> T run(TransactionWork<T, X> work) throws SQLException, X {
        return run(work, (connection, result) -> connection.commit(), false);
    }

    /**
     * The same with another end, unless it is a part of a transaction. That leaves a key or changes
     * nothing.
     */
    <T, X extends Exception> T run(TransactionWork<T, X> work, Ending<T> ending)
            throws SQLException, X {
        return run(work, ending, true);
    }

    private <T, X extends Exception> T run(
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

    /** True if this thread has a transaction open. */
    boolean isOpen() {
        return open.get() != null;
    }

    private <T, X extends Exception> T runPart(Session outer, TransactionWork<T, X> work)
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

    private <T, X extends Exception> T runOutermost(
            TransactionWork<T, X> work, Ending<T> ending, boolean hasKey) throws SQLException, X {
        try (var limit = new TimeLimit(RetriedCall.timeLeft())) {
            return runOutermost(limit, work, ending, hasKey);
        }
    }

    private <T, X extends Exception> T runOutermost(
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

    private <T, X extends Exception> T runOn(Session session, TransactionWork<T, X> work)
            throws SQLException, X {
        open.set(session);
        try {
            T result = work.run(session.connection);
            if (session.fault != null) {
                throw new IllegalStateException("a part of the transaction failed", session.fault);
            }
            return result;
        } finally {
            open.remove();
        }
    }

    private <T> void end(
            Connection connection,
            boolean hadAutoCommit,
            T result,
            Ending<T> ending,
            boolean hasKey)
            throws SQLException {
        try {
            ending.end(connection, result);
        } catch (Throwable failure) {
            rollBack(connection, hadAutoCommit); // A commit that was refused may have left it open.
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

    /** A failure here has nobody to go to: it would hide the exception on its way. */
    private void rollBack(Connection connection, boolean hadAutoCommit) {
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
            LOGGER.log(System.Logger.Level.DEBUG, "a transaction was not rolled back", e);
        }
    }

    /** After a commit no failure may look as if there was none. */
    private static void close(Connection connection, boolean hadAutoCommit) {
        try (connection) {
            if (hadAutoCommit) {
                connection.setAutoCommit(true);
            }
        } catch (SQLException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "a connection was not closed", e);
        }
    }
}
