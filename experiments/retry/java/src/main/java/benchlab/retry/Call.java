// SPDX-License-Identifier: Apache-2.0
// The work of a call in its transaction, before it inserts its row into effect: ../README.md.
package benchlab.retry;

import benchlab.appserver.retry.Versions;
import benchlab.kit.Refusal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The cases. Statements are prepared for each call; the servers' drivers cache repeated statements.
 */
enum Call {
    COUNTER {
        @Override
        void make(Connection connection, long input) throws SQLException {
            update(connection, ADD, 1);
        }
    },
    TRANSFER {
        @Override
        void make(Connection connection, long input) throws SQLException {
            int giver = row(input, ACCOUNTS);
            long rest = Long.divideUnsigned(input, ACCOUNTS);
            int offset = (int) Long.remainderUnsigned(rest, ACCOUNTS - 1);
            update(connection, SUBTRACT, giver);
            update(connection, ADD, (giver + offset) % ACCOUNTS + 1);
        }
    },
    RECORD {
        @Override
        void make(Connection connection, long input) throws SQLException {
            int id = row(input, RECORDS);
            int version = version(connection, id);
            try (PreparedStatement statement = connection.prepareStatement(ADD_TO_VERSION)) {
                statement.setInt(1, id);
                statement.setInt(2, version);
                Versions.executeVersioned(statement);
            }
        }
    },
    ORDER {
        @Override
        void make(Connection connection, long input) {}
    },
    HTTP {
        @Override
        void make(Connection connection, long input) {}
    };

    private static final int ACCOUNTS = 100;
    private static final int RECORDS = 10;

    private static final String ADD = "UPDATE test_simple SET value = value + 1 WHERE id = ?";
    private static final String SUBTRACT = "UPDATE test_simple SET value = value - 1 WHERE id = ?";
    private static final String ADD_TO_VERSION = ADD + " AND value = ?";
    private static final String READ = "SELECT value FROM test_simple WHERE id = ?";

    static Call named(String name) throws Refusal {
        return switch (name) {
            case "counter" -> COUNTER;
            case "transfer" -> TRANSFER;
            case "record" -> RECORD;
            case "order", "outage", "arrivals" -> ORDER;
            case "http" -> HTTP;
            default -> throw Refusal.unsupported("there is no case " + name);
        };
    }

    /**
     * Does the work once, in the open transaction.
     *
     * @param connection the connection of the transaction
     * @param input the input of the call
     * @throws SQLException if the database reports an error
     * @throws benchlab.appserver.retry.StaleVersionException if another call has changed the record
     */
    abstract void make(Connection connection, long input) throws SQLException;

    private static int row(long input, int rows) {
        return (int) Long.remainderUnsigned(input, rows) + 1;
    }

    private static void update(Connection connection, String sql, int id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, id);
            statement.executeUpdate();
        }
    }

    private static int version(Connection connection, int id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(READ)) {
            statement.setInt(1, id);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new SQLException("test_simple has no row " + id);
                }
                return row.getInt(1);
            }
        }
    }
}
