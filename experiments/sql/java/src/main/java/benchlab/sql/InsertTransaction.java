// SPDX-License-Identifier: Apache-2.0
// insert_tx: one transaction of n inserted rows, prepared.
package benchlab.sql;

import benchlab.kit.Result;
import benchlab.kit.Sequence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * The rows of a transaction go as a JDBC batch. The driver runs the INSERT once for each row of it,
 * the same work as executing the statement in a loop, without that loop's checks.
 */
final class InsertTransaction extends SqlCase {
    private final PreparedStatement statement;
    private final Sequence values;
    private final long rows;

    InsertTransaction(Connection connection, Sequence sequence, long rows) throws SQLException {
        super(connection);
        statement = connection.prepareStatement(Insert.SQL);
        values = Insert.values(sequence);
        this.rows = rows;
    }

    /** Out of autocommit mode for the whole batch: a commit then begins the next transaction. */
    @Override
    public Result perform(long operations) throws SQLException {
        connection.setAutoCommit(false);
        try {
            long check = 0;
            for (long k = 0; k < operations; k++) {
                check += insert(k * rows);
                connection.commit();
            }
            return new Result(operations * rows, check);
        } catch (SQLException e) {
            connection.rollback();
            throw e;
        } finally {
            connection.setAutoCommit(true);
        }
    }

    private long insert(long first) throws SQLException {
        long sum = 0;
        for (long k = first; k < first + rows; k++) {
            long value = values.at(k);
            statement.setLong(1, value);
            statement.addBatch();
            sum += value;
        }
        statement.executeBatch();
        return sum;
    }
}
