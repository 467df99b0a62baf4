// SPDX-License-Identifier: Apache-2.0
// What the cases share of which one operation is a transaction of several statements.
package benchlab.sql;

import benchlab.kit.Result;
import java.sql.Connection;
import java.sql.SQLException;

abstract class TransactionCase extends SqlCase {

    TransactionCase(Database database, Connection connection) {
        super(database, connection);
    }

    /**
     * Leaves autocommit mode in the first batch, when the settings have been read, and for good: a
     * commit then begins the next transaction, and the later calls do nothing.
     */
    @Override
    public final Result perform(long operations) throws SQLException {
        connection.setAutoCommit(false);
        try {
            return transact(operations);
        } catch (SQLException e) {
            connection.rollback();
            throw e;
        }
    }

    /** Does the operations, each with its commit. */
    abstract Result transact(long operations) throws SQLException;
}
