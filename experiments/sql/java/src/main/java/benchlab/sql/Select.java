// SPDX-License-Identifier: Apache-2.0
// select: iterates over the first n rows of the table, and decodes both columns.
package benchlab.sql;

import benchlab.kit.Result;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

final class Select {
    private Select() {}

    private static String sql(long limit) {
        return "SELECT id, value FROM test_simple ORDER BY id LIMIT " + limit;
    }

    static final class Prepared extends SqlCase {
        private final PreparedStatement statement;

        Prepared(Database database, Connection connection, long limit) throws SQLException {
            super(database, connection);
            statement = connection.prepareStatement(sql(limit));
        }

        @Override
        public Result perform(long operations) throws SQLException {
            long units = 0;
            long check = 0;
            for (long k = 0; k < operations; k++) {
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        check += rows.getInt(1);
                        check += rows.getInt(2);
                        units++;
                    }
                }
            }
            return new Result(units, check);
        }
    }

    static final class Text extends SqlCase {
        private final String sql;

        Text(Database database, Connection connection, long limit) {
            super(database, connection);
            sql = sql(limit);
        }

        @Override
        public Result perform(long operations) throws SQLException {
            long units = 0;
            long check = 0;
            for (long k = 0; k < operations; k++) {
                try (Statement statement = connection.createStatement();
                        ResultSet rows = statement.executeQuery(sql)) {
                    while (rows.next()) {
                        check += rows.getInt(1);
                        check += rows.getInt(2);
                        units++;
                    }
                }
            }
            return new Result(units, check);
        }
    }
}
