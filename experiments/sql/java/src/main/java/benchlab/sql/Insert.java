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

    /** The values to insert, from 0 to 2<sup>31</sup>-1. */
    static Sequence values(Sequence sequence) {
        return sequence.map(value -> value >>> 33);
    }

    static final class Prepared extends SqlCase {
        private final PreparedStatement statement;
        private final Sequence values;

        Prepared(Connection connection, Sequence sequence) throws SQLException {
            super(connection);
            statement = connection.prepareStatement(SQL);
            values = values(sequence);
        }

        @Override
        public Result perform(long operations) throws SQLException {
            long check = 0;
            for (long k = 0; k < operations; k++) {
                long value = values.at(k);
                statement.setLong(1, value);
                statement.executeUpdate();
                check += value;
            }
            return new Result(operations, check);
        }
    }

    static final class Text extends SqlCase {
        private final Sequence values;

        Text(Connection connection, Sequence sequence) {
            super(connection);
            values = values(sequence);
        }

        @Override
        public Result perform(long operations) throws SQLException {
            long check = 0;
            for (long k = 0; k < operations; k++) {
                long value = values.at(k);
                try (PreparedStatement statement = connection.prepareStatement(SQL)) {
                    statement.setLong(1, value);
                    statement.executeUpdate();
                }
                check += value;
            }
            return new Result(operations, check);
        }
    }
}
