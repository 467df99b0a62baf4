// SPDX-License-Identifier: Apache-2.0
// What is done in a transaction.
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * What is done in a transaction. It neither begins nor ends one, does nothing that a rollback does
 * not undo, and lets the database's exceptions pass: after some of them the database has ended the
 * transaction, and what followed would be another one.
 *
 * @param <T> the result
 * @param <X> the checked exception that it throws besides
 */
@FunctionalInterface
public interface TransactionWork<T, X extends Exception> {
    T run(Connection connection) throws SQLException, X;
}
