// SPDX-License-Identifier: Apache-2.0
// update_point: one row by its id, given a new value, committed by itself, prepared.
package benchlab.sql;

import benchlab.kit.Result;
import benchlab.kit.Sequence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

final class UpdatePoint extends SqlCase {
    private final PreparedStatement statement;
    private final Sequence values;
    private final Sequence ids;

    UpdatePoint(Database database, Connection connection, Sequence values, Sequence ids)
            throws SQLException {
        super(database, connection);
        statement = connection.prepareStatement("UPDATE test_simple SET value = ? WHERE id = ?");
        this.values = values;
        this.ids = ids;
    }

    @Override
    public Result perform(long operations) throws SQLException {
        long check = 0;
        for (long k = 0; k < operations; k++) {
            int value = (int) values.at(k);
            statement.setInt(1, value);
            statement.setInt(2, (int) ids.at(k));
            statement.executeUpdate();
            check += value;
        }
        return new Result(operations, check);
    }
}
