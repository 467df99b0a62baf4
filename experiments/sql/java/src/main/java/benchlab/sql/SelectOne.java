// SPDX-License-Identifier: Apache-2.0
// select_1: SELECT 1, fetch the row.
package benchlab.sql;

import benchlab.kit.Result;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

final class SelectOne {
    static final String SQL = "SELECT 1";

    private SelectOne() {}

    static final class Prepared extends SqlCase {
        private final PreparedStatement statement;

        Prepared(Database database, Connection connection) throws SQLException {
            super(database, connection);
            statement = connection.prepareStatement(SQL);
        }

        @Override
        public Result perform(long operations) throws SQLException {
            long check = 0;
            for (long k = 0; k < operations; k++) {
                try (ResultSet result = statement.executeQuery()) {
                    check += fetch(result);
                }
            }
            return new Result(operations, check);
        }
    }

    static final class Text extends SqlCase {
        Text(Database database, Connection connection) {
            super(database, connection);
        }

        @Override
        public Result perform(long operations) throws SQLException {
            long check = 0;
            for (long k = 0; k < operations; k++) {
                try (Statement statement = connection.createStatement();
                        ResultSet result = statement.executeQuery(SQL)) {
                    check += fetch(result);
                }
            }
            return new Result(operations, check);
        }
    }
}
