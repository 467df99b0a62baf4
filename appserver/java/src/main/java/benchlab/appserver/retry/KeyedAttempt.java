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

    private final IdempotencyKey<T> key;
    private final TransactionWork<T, X> work;
    private boolean isLast; // Whether the key comes last.

    KeyedAttempt(IdempotencyKey<T> key, TransactionWork<T, X> work) {
        this.key = key;
        this.work = work;
    }

    T run(Transactions transactions) throws SQLException, X {
        try {
            return transactions.run(this::work, this::commit);
        } catch (Exception failure) {
            if (!isLast || isLost(failure)) {
                throw failure;
            }
            // Work that was done before may fail for that, in whatever way.
            IdempotencyKey.Kept kept = find(transactions, failure);
            if (kept == null) {
                throw failure;
            }
            return key.result(kept);
        }
    }

    private T work(Connection connection) throws SQLException, X {
        isLast = !RetriedCall.isOutcomeUnknown() && key.comesWithCommit(connection);
        return isLast ? work.run(connection) : key.once(connection, work);
    }

    private void commit(Connection connection, T result) throws SQLException {
        if (isLast) {
            RetriedCall.noteKeyLast();
            key.keepAndCommit(connection, result);
        } else {
            connection.commit();
        }
    }

    private IdempotencyKey.Kept find(Transactions transactions, Exception failure)
            throws SQLException {
        try {
            return transactions.run(key::find);
        } catch (SQLException e) {
            e.addSuppressed(failure);
            throw e;
        }
    }

    private static boolean isLost(Exception failure) {
        Fault fault = Faults.of(failure);
        return fault == Fault.CONNECTION_LOST || fault == Fault.OUTCOME_UNKNOWN;
    }
}
