// SPDX-License-Identifier: Apache-2.0
package benchlab.retry;

import benchlab.sql.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/**
 * A table of idempotency keys that exists while a case is open. A key identifies one call in one
 * batch of one open case.
 */
final class KeyTable implements AutoCloseable {

    static final String NAME = "retry_key";

    private static final String CREATE =
            """
            CREATE TABLE IF NOT EXISTS %s (
                id %s PRIMARY KEY,
                result text,
                created timestamp DEFAULT CURRENT_TIMESTAMP)""";

    private final Database database;
    private final String insert;
    private final String opening = UUID.randomUUID().toString();

    KeyTable(Database database, Target target) throws SQLException {
        this.database = database;
        insert = target.insertIfAbsent().formatted(NAME);
        execute(CREATE.formatted(NAME, target.keyType()));
    }

    String key(long batch, long k) {
        return opening + "/" + batch + "/" + k;
    }

    /** Inserts a key without a library; returns false if an earlier attempt has committed it. */
    boolean take(Connection transaction, String key) throws SQLException {
        try (PreparedStatement statement = transaction.prepareStatement(insert)) {
            statement.setString(1, key);
            return statement.executeUpdate() == 1;
        }
    }

    /** Drops the table, so that the next case finds no keys. */
    @Override
    public void close() throws SQLException {
        execute("DROP TABLE " + NAME);
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate(sql);
        }
    }
}
