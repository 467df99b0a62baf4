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

    Transfer(
            Database database,
            Connection connection,
            Sequence amounts,
            Sequence sources,
            Sequence destinations)
            throws SQLException {
        super(database, connection);
        take = connection.prepareStatement("UPDATE test_simple SET value = value - ? WHERE id = ?");
        give = connection.prepareStatement(UpdatePoint.SQL);
        this.amounts = amounts;
        this.sources = sources;
        this.destinations = destinations;
    }

    @Override
    Result transact(long operations) throws SQLException {
        long check = 0;
        for (long k = 0; k < operations; k++) {
            int amount = (int) amounts.at(k);
            UpdatePoint.change(take, amount, (int) sources.at(k));
            UpdatePoint.change(give, amount, (int) destinations.at(k));
            connection.commit();
            check += amount;
        }
        return new Result(2 * operations, check);
    }
}
