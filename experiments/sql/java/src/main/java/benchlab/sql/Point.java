// SPDX-License-Identifier: Apache-2.0
// point: one row by its id.
package benchlab.sql;

import benchlab.kit.Result;
import benchlab.kit.Sequence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

final class Point {
    static final String SQL = "SELECT value FROM test_simple WHERE id = ?";

    private Point() {}

    /** Returns the value in the row whose id is {@code id}. */
    static int value(PreparedStatement statement, long id) throws SQLException {
        statement.setInt(1, (int) id);
        try (ResultSet result = statement.executeQuery()) {
            return SqlCase.fetch(result);
        }
    }

    static final class Prepared extends SqlCase {
        private final PreparedStatement statement;
        private final Sequence ids;

        Prepared(Database database, Connection connection, Sequence ids) throws SQLException {
            super(database, connection);
            statement = connection.prepareStatement(SQL);
            this.ids = ids;
        }

        @Override
        public Result perform(long operations) throws SQLException {
            long check = 0;
            for (long k = 0; k < operations; k++) {
                check += value(statement, ids.at(k));
            }
            return new Result(operations, check);
        }
    }

    static final class Text extends SqlCase {
        private final Sequence ids;

        Text(Database database, Connection connection, Sequence ids) {
            super(database, connection);
            this.ids = ids;
        }

        @Override
        public Result perform(long operations) throws SQLException {
            long check = 0;
            for (long k = 0; k < operations; k++) {
                try (PreparedStatement statement = connection.prepareStatement(SQL)) {
                    check += value(statement, ids.at(k));
                }
            }
            return new Result(operations, check);
        }
    }
}
