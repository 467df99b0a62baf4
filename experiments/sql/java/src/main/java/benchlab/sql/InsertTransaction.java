// SPDX-License-Identifier: Apache-2.0
// insert_tx: one transaction of n inserted rows, prepared.
package benchlab.sql;

import benchlab.kit.Result;
import benchlab.kit.Sequence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Inserts rows without a JDBC batch, for which the servers' drivers would send many rows before
 * they wait for a response.
 */
final class InsertTransaction extends TransactionCase {
    private final PreparedStatement statement;
    private final Sequence values;
    private final long rows;

    InsertTransaction(Database database, Connection connection, Sequence values, long rows)
            throws SQLException {
        super(database, connection);
        statement = connection.prepareStatement(Insert.SQL);
        this.values = values;
        this.rows = rows;
    }

    @Override
    Result transact(long operations) throws SQLException {
        long check = 0;
        for (long k = 0; k < operations; k++) {
            check += insert(k * rows);
            connection.commit();
        }
        return new Result(operations * rows, check);
    }

    private long insert(long first) throws SQLException {
        long sum = 0;
        for (long k = first; k < first + rows; k++) {
            int value = (int) values.at(k);
            statement.setInt(1, value);
            statement.executeUpdate();
            sum += value;
        }
        return sum;
    }
}
