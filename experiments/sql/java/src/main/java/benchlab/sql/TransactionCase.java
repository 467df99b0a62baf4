// SPDX-License-Identifier: Apache-2.0
// The common base of the cases in which each operation is a transaction of multiple statements.
package benchlab.sql;

import benchlab.kit.Result;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

abstract class TransactionCase extends SqlCase {

    TransactionCase(Database database, Connection connection) {
        super(database, connection);
    }

    /**
     * Returns the settings, and turns autocommit mode off. This is the last step of opening the
     * case. From now on, each commit begins the next transaction.
     */
    @Override
    public final Map<String, String> settings() throws SQLException {
        Map<String, String> settings = super.settings();
        connection.setAutoCommit(false);
        return settings;
    }

    @Override
    public final Result perform(long operations) throws SQLException {
        try {
            return transact(operations);
        } catch (SQLException e) {
            connection.rollback();
            throw e;
        }
    }

    /** Performs the operations, each with its commit. */
    abstract Result transact(long operations) throws SQLException;
}
