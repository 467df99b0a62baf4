// SPDX-License-Identifier: Apache-2.0
// Work inside a transaction.
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Work inside a transaction. It must not begin or end a transaction, must have no effect that a
 * rollback does not undo, and must let the database's exceptions propagate: after some of them the
 * database has ended the transaction, and further statements would not belong to it.
 *
 * @param <T> the type of the result
 * @param <X> a checked exception other than {@link SQLException}
 */
@FunctionalInterface
public interface TransactionWork<T, X extends Exception> {
    /**
     * Runs the work.
     *
     * @param connection the connection of the transaction
     * @return the result
     * @throws SQLException if the database reports an error
     * @throws X if the work fails
     */
    T run(Connection connection) throws SQLException, X;
}
