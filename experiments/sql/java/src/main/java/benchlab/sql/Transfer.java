// SPDX-License-Identifier: Apache-2.0
// transfer: one transaction that moves an amount from one row to another, prepared.
package benchlab.sql;

import benchlab.kit.Result;
import benchlab.kit.Sequence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

final class Transfer extends TransactionCase {
    private final PreparedStatement take;
    private final PreparedStatement give;
    private final Sequence amounts;
    private final Sequence sources;
    private final Sequence destinations;

    Transfer(Database database, Connection connection, Sequence sequence, long rows)
            throws SQLException {
        super(database, connection);
        take = connection.prepareStatement("UPDATE test_simple SET value = value - ? WHERE id = ?");
        give = connection.prepareStatement("UPDATE test_simple SET value = value + ? WHERE id = ?");
        amounts = sequence.map(input -> 1 + (input >>> 20) % 100);
        sources = sequence.map(input -> 1 + Long.remainderUnsigned(input, rows));
        destinations = sequence.map(input -> 1 + (input >>> 32) % rows);
    }

    @Override
    Result transact(long operations) throws SQLException {
        long check = 0;
        for (long k = 0; k < operations; k++) {
            int amount = (int) amounts.at(k);
            change(take, amount, sources.at(k));
            change(give, amount, destinations.at(k));
            connection.commit();
            check += amount;
        }
        return new Result(2 * operations, check);
    }

    private static void change(PreparedStatement statement, int amount, long id)
            throws SQLException {
        statement.setInt(1, amount);
        statement.setInt(2, (int) id);
        statement.executeUpdate();
    }
}
