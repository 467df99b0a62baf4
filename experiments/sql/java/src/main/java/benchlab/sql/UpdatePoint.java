// SPDX-License-Identifier: Apache-2.0
// update_point: one row by its id, an amount added to its value, committed by itself, prepared.
package benchlab.sql;

import benchlab.kit.Result;
import benchlab.kit.Sequence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

final class UpdatePoint extends SqlCase {
    static final String SQL = "UPDATE test_simple SET value = value + ? WHERE id = ?";

    private final PreparedStatement statement;
    private final Sequence amounts;
    private final Sequence ids;

    UpdatePoint(Database database, Connection connection, Sequence amounts, Sequence ids)
            throws SQLException {
        super(database, connection);
        statement = connection.prepareStatement(SQL);
        this.amounts = amounts;
        this.ids = ids;
    }

    @Override
    public Result perform(long operations) throws SQLException {
        long check = 0;
        for (long k = 0; k < operations; k++) {
            int amount = (int) amounts.at(k);
            change(statement, amount, (int) ids.at(k));
            check += amount;
        }
        return new Result(operations, check);
    }

    /** Changes one row's value by the amount. */
    static void change(PreparedStatement statement, int amount, int id) throws SQLException {
        statement.setInt(1, amount);
        statement.setInt(2, id);
        statement.executeUpdate();
    }
}
