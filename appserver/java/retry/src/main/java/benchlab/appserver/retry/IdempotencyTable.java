// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A table with the keys of committed calls, in the same database as the data that the work changes:
 *
 * <pre>{@code
 * CREATE TABLE retry_key (
 *     id varchar(255) PRIMARY KEY,
 *     result text,
 *     request varchar(64),
 *     created timestamp DEFAULT CURRENT_TIMESTAMP)
 * }</pre>
 *
 * <p>Keys must be compared exactly. In MariaDB, {@code id} must therefore be {@code varchar(255)
 * CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin}. The column {@code request} is needed for keys
 * with a request, and {@code created} for {@link #deleteOlder}. In PostgreSQL the type of {@code
 * created} must be {@code timestamptz}: a {@code timestamp} there is in the time zone of the session
 * that wrote it, and a session in another time zone would delete keys hours early.
 *
 * <p>In PostgreSQL and MariaDB, the key and the result are inserted together with the COMMIT, in
 * one round trip. In other databases, and while the outcome of an attempt is unknown, a transaction
 * begins with the INSERT of its key. The stored result is read if the key exists. It is also read
 * after failed work, to find out whether the key exists. SQLite must be version 3.24 or later.
 */
public final class IdempotencyTable {

    private static final Pattern NAME = Pattern.compile("\\w+(\\.\\w+)?");

    /**
     * Databases in which the INSERT ignores an existing key. In PostgreSQL a violation would abort
     * the transaction. MariaDB undoes only the statement, and its INSERT IGNORE would truncate a
     * key that is too long.
     */
    private static final Set<String> KNOW_ON_CONFLICT = Set.of("PostgreSQL", "SQLite");

    /**
     * A block of statements for MariaDB. Versions before 10.6.2 cannot prepare a block, so
     * Connector/J has to insert the values.
     */
    private static final String MARIADB_BLOCK = "/*client prepare*/BEGIN NOT ATOMIC %s; END";

    /**
     * Deletes keys. The inner query has an alias because MariaDB does not support LIMIT in a
     * subquery of IN.
     */
    private static final String DELETION =
            "DELETE FROM %1$s WHERE id IN (SELECT id FROM"
                    + " (SELECT id FROM %1$s WHERE created < %2$s LIMIT %3$d) AS older)";

    final String update;
    private final String name;
    private final Statements withoutRequest;
    private final Statements withRequest;

    /**
     * Refers to an existing table.
     *
     * @param name the name without quotes, such as {@code retry_key} or {@code shop.retry_key}
     */
    public IdempotencyTable(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("invalid table name: " + name);
        }
        this.name = name;
        update = "UPDATE " + name + " SET result = ? WHERE id = ?";
        withoutRequest = new Statements(name, "", "");
        withRequest = new Statements(name, ", request", ", ?");
    }

    /**
     * Returns the statements that insert and find a key, with or without the column for its
     * request.
     */
    Statements statements(boolean hasRequest) {
        return hasRequest ? withRequest : withoutRequest;
    }

    static final class Statements {
        final String select;
        private final String insert;
        private final String insertOrNothing;
        private final Map<String, String> insertAndCommit;

        private Statements(String name, String column, String value) {
            select = "SELECT result" + column + " FROM " + name + " WHERE id = ?";
            insert = "INSERT INTO " + name + " (id" + column + ") VALUES (?" + value + ")";
            insertOrNothing = insert + " ON CONFLICT DO NOTHING";
            String both =
                    "INSERT INTO %s (id, result%s) VALUES (?, ?%s); COMMIT"
                            .formatted(name, column, value);
            insertAndCommit = Map.of("PostgreSQL", both, "MariaDB", MARIADB_BLOCK.formatted(both));
        }

        /**
         * Returns an INSERT for a key. If the key exists, the statement changes no row or fails,
         * but does not abort the transaction.
         */
        String insert(DatabaseMetaData database) throws SQLException {
            return KNOW_ON_CONFLICT.contains(database.getDatabaseProductName())
                    ? insertOrNothing
                    : insert;
        }

        /**
         * Returns an INSERT that also commits and has no effect if the key exists; null for
         * databases without support.
         */
        @Nullable String insertAndCommit(DatabaseMetaData database) throws SQLException {
            return insertAndCommit.get(database.getDatabaseProductName());
        }
    }

    /**
     * Deletes old keys. Call it periodically, and repeat the call until it deletes fewer than
     * {@code maxRows}. A call that is repeated after its key was deleted takes effect again. An
     * index on {@code created} makes this method fast.
     *
     * @param connection the connection
     * @param minAge the minimum age of the keys to delete, in whole seconds by the database's clock
     * @param maxRows the maximum number of keys to delete
     * @return the number of deleted keys
     * @throws SQLException if the database reports an error
     */
    public int deleteOlder(Connection connection, Duration minAge, int maxRows) throws SQLException {
        if (minAge.toSeconds() < 1 || maxRows < 1) {
            throw new IllegalArgumentException("minAge must be at least 1 s, and maxRows at least 1");
        }
        String moment =
                connection.getMetaData().getDatabaseProductName().equals("SQLite")
                        ? "datetime('now', '-%d seconds')"
                        : "CURRENT_TIMESTAMP - INTERVAL '%d' SECOND";
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(
                    DELETION.formatted(name, moment.formatted(minAge.toSeconds()), maxRows));
        }
    }

    /** Returns true for a statement of {@link #insertAndCommit}. */
    static boolean commits(String sql) {
        return sql.endsWith("; COMMIT") || sql.endsWith("; COMMIT; END");
    }

    /**
     * Creates the key of a call whose result is a string. See {@link #key(String, Function,
     * Function)}.
     *
     * @param id the key
     * @return the key
     */
    public IdempotencyKey<String> key(String id) {
        return key(id, text -> text, text -> text);
    }

    /**
     * Creates the key of a call.
     *
     * @param id the key, at most 255 characters long. The client chooses the key: the same key when
     *     it repeats a call, and a different key for every other call
     * @param write converts a result to text, for repeated calls; not called for null
     * @param read converts the text to a result
     * @param <T> the type of the result
     * @return the key
     */
    public <T extends @Nullable Object> IdempotencyKey<T> key(
            String id, Function<? super T, String> write, Function<String, ? extends T> read) {
        return new IdempotencyKey<>(this, id, null, write, read);
    }
}
