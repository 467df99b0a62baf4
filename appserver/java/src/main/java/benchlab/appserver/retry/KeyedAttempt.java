// SPDX-License-Identifier: Apache-2.0
// One attempt at a call that has a key.
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Work in a transaction that leaves the key of its call and the result there. Where a database
 * takes both together with the COMMIT they cost no round trip: the key comes last. If it was there,
 * that fails, and the work is undone.
 *
 * <p>After an attempt whose outcome is unknown it comes first, so that the work is not done twice,
 * and an attempt that is still at its end is waited for.
 */
final class KeyedAttempt<T, X extends Exception> {

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

    private IdempotencyKey.StoredResult find(Transactions transactions, Exception failure)
            throws SQLException {
        try {
            return transactions.run(key::find, (connection, stored) -> rollBack(connection));
        } catch (SQLException e) {
            e.addSuppressed(failure);
            throw e;
        }
    }

    /** After a mere read, of which nothing is to be committed or lost. */
    private static void rollBack(Connection connection) {
        try {
            connection.rollback();
        } catch (SQLException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "a transaction was not rolled back", e);
        }
    }

    /** True if the work may be there already, and no other attempt is to find that out. */
    private static boolean isAnsweredByKey(Exception failure) {
        Fault fault = Faults.of(failure);
        return switch (fault) {
            case PERMANENT, STALE_VERSION -> true; // As work that is done twice.
            case CONNECTION_LOST, OUTCOME_UNKNOWN -> false;
            default -> !RetriedCall.mayRetry(fault);
        };
    }
}
