// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a call with an idempotency key. The transaction stores the key and the result. If
 * the database can insert both together with the COMMIT, the key comes last and costs no round
 * trip. If the key already exists, the commit fails and the work is undone.
 *
 * <p>After an attempt with an unknown outcome the key comes first, so that the work is not
 * repeated, and so that this attempt waits for an earlier attempt that is still committing.
 */
final class KeyedAttempt<T extends @Nullable Object, X extends Exception> {

    private static final System.Logger LOGGER = System.getLogger(KeyedAttempt.class.getName());

    private final IdempotencyKey<T> key;
    private final TransactionWork<T, X> work;
    private boolean keyComesLast;

    KeyedAttempt(IdempotencyKey<T> key, TransactionWork<T, X> work) {
        this.key = key;
        this.work = work;
    }

    T run(Transactions transactions) throws SQLException, X {
        try {
            return transactions.run(this::work, this::commit);
        } catch (Exception failure) {
            if (!keyComesLast || !isAnsweredByKey(failure)) {
                throw failure;
            }
            IdempotencyKey.StoredResult stored = find(transactions, failure);
            if (stored == null) {
                throw failure;
            }
            return key.result(stored);
        }
    }

    private T work(Connection connection) throws SQLException, X {
        keyComesLast = !RetriedCall.isOutcomeUnknown() && key.comesWithCommit(connection);
        return keyComesLast ? work.run(connection) : key.once(connection, work);
    }

    private void commit(Connection connection, T result) throws SQLException {
        if (keyComesLast) {
            RetriedCall.noteKeyLast();
            key.keepAndCommit(connection, result);
        } else {
            connection.commit();
        }
    }

    @SuppressWarnings("NullAway") // It does not infer that the type of this result is nullable.
    private IdempotencyKey.@Nullable StoredResult find(Transactions transactions, Exception failure)
            throws SQLException {
        try {
            return transactions.run(key::find, (connection, stored) -> rollBack(connection));
        } catch (SQLException e) {
            if (e != failure) {
                e.addSuppressed(failure);
            }
            throw e;
        }
    }

    /** Rolls back after a read, which has nothing to commit or lose. */
    private static void rollBack(Connection connection) {
        try {
            connection.rollback();
        } catch (SQLException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "cannot roll back a transaction", e);
        }
    }

    /**
     * Returns true if the work may already be committed, and no later attempt will find out whether
     * it was.
     */
    private static boolean isAnsweredByKey(Exception failure) {
        Fault fault = Faults.of(failure);
        return switch (fault) {
            case PERMANENT, STALE_VERSION -> true; // Repeated work can fail in this way.
            case CONNECTION_LOST, OUTCOME_UNKNOWN -> false;
            default -> !RetriedCall.mayRetry(fault);
        };
    }
}
