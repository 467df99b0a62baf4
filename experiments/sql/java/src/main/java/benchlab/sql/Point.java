// SPDX-License-Identifier: Apache-2.0
// point: one row by its id, prepared.
package benchlab.sql;

import benchlab.kit.Result;
import benchlab.kit.Sequence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

final class Point extends SqlCase {
    private final PreparedStatement statement;
    private final Sequence ids;

    Point(Connection connection, Sequence sequence, long rows) throws SQLException {
        super(connection);
        statement = connection.prepareStatement("SELECT value FROM test_simple WHERE id = ?");
        ids = sequence.map(value -> 1 + Long.remainderUnsigned(value, rows));
    }

    @Override
    public Result perform(long operations) throws SQLException {
        long check = 0;
        for (long k = 0; k < operations; k++) {
            statement.setLong(1, ids.at(k));
            try (ResultSet result = statement.executeQuery()) {
                check += fetch(result);
            }
        }
        return new Result(operations, check);
    }
}
