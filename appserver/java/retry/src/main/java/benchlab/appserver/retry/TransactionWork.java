// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Work inside a transaction. It must not begin or end a transaction, must have no effects that a
 * rollback does not undo, and must let the database's exceptions propagate: after some of them the
 * database has already rolled back, and further statements would not belong to the transaction.
 *
 * @param <T> the type of the result
 * @param <X> a checked exception other than {@link SQLException}
 */
@FunctionalInterface
public interface TransactionWork<T extends @Nullable Object, X extends Exception> {
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
