// SPDX-License-Identifier: Apache-2.0
// do_1: DO 1, which returns no result, sent as text.
package benchlab.sql;

import benchlab.kit.Result;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

final class DoOne extends SqlCase {

    DoOne(Database database, Connection connection) {
        super(database, connection);
    }

    @Override
    public Result perform(long operations) throws SQLException {
        for (long k = 0; k < operations; k++) {
            try (Statement statement = connection.createStatement()) {
                statement.executeUpdate("DO 1");
            }
        }
        return new Result(operations, operations);
    }
}
