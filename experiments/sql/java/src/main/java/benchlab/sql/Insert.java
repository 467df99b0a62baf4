// SPDX-License-Identifier: Apache-2.0
// insert: one row, its value bound, committed by itself.
package benchlab.sql;

import benchlab.kit.Result;
import benchlab.kit.Sequence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

final class Insert {
    static final String SQL = "INSERT INTO test_simple (value) VALUES (?)";

    private Insert() {}

    static final class Prepared extends SqlCase {
        private final PreparedStatement statement;
        private final Sequence values;

        Prepared(Database database, Connection connection, Sequence values) throws SQLException {
            super(database, connection);
            statement = connection.prepareStatement(SQL);
            this.values = values;
        }

        @Override
        public Result perform(long operations) throws SQLException {
            long check = 0;
            for (long k = 0; k < operations; k++) {
                int value = (int) values.at(k);
                statement.setInt(1, value);
                statement.executeUpdate();
                check += value;
            }
            return new Result(operations, check);
        }
    }

    static final class Text extends SqlCase {
        private final Sequence values;

        Text(Database database, Connection connection, Sequence values) {
            super(database, connection);
            this.values = values;
        }

        @Override
        public Result perform(long operations) throws SQLException {
            long check = 0;
            for (long k = 0; k < operations; k++) {
                int value = (int) values.at(k);
                try (PreparedStatement statement = connection.prepareStatement(SQL)) {
                    statement.setInt(1, value);
                    statement.executeUpdate();
                }
                check += value;
            }
            return new Result(operations, check);
        }
    }
}
