// SPDX-License-Identifier: Apache-2.0
// mixed: one row of seven columns by its id, every column decoded, prepared.
package benchlab.sql;

import benchlab.kit.Result;
import benchlab.kit.Sequence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;

final class Mixed extends SqlCase {
    private final PreparedStatement statement;
    private final Sequence ids;

    Mixed(Database database, Connection connection, Sequence ids) throws SQLException {
        super(database, connection);
        statement =
                connection.prepareStatement(
                        "SELECT id, small, big, amount, name, "
                                + database.nothing()
                                + ", moment FROM test_mixed WHERE id = ?");
        this.ids = ids;
    }

    @Override
    public Result perform(long operations) throws SQLException {
        long check = 0;
        for (long k = 0; k < operations; k++) {
            statement.setInt(1, (int) ids.at(k));
            try (ResultSet row = statement.executeQuery()) {
                toRow(row);
                check += fold(row);
                toEnd(row);
            }
        }
        return new Result(operations, check);
    }

    private long fold(ResultSet row) throws SQLException {
        long sum = row.getInt(1);
        sum += row.getInt(2);
        sum += row.getLong(3);
        sum += database.tenThousandths(row, 4);
        sum += row.getString(5).codePoints().sum();
        sum += row.getObject(6) == null ? 1 : 0;
        sum += milliseconds(row.getObject(7, LocalDateTime.class));
        return sum;
    }

    private static long milliseconds(LocalDateTime moment) {
        return moment.toInstant(ZoneOffset.UTC).toEpochMilli();
    }
}
