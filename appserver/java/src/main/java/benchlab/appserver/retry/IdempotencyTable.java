// SPDX-License-Identifier: Apache-2.0
// Where the keys of calls and their results are kept.
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

/**
 * A table of the database that the work changes, with the keys of calls that were committed:
 *
 * <pre>{@code
 * CREATE TABLE retry_key (
 *     id varchar(255) PRIMARY KEY,
 *     result text,
 *     request varchar(64),
 *     created timestamp DEFAULT CURRENT_TIMESTAMP)
 * }</pre>
 *
 * <p>Two keys must be the same only if they are equal, which in MariaDB needs {@code id} to be
 * {@code varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin}. The column {@code request} is
 * for calls that name their request, {@code created} for {@link #deleteOlder}. In PostgreSQL the
 * type of {@code created} must be {@code timestamptz}: a {@code timestamp} there is in the zone of
 * the session that wrote it, and a session of another zone would delete keys hours early.
 *
 * <p>PostgreSQL and MariaDB take the key and the result together with the COMMIT, in one round
 * trip. Elsewhere, and while the outcome of an attempt is unknown, a transaction begins with the
 * INSERT of its key. A result is read if its key is there, and to see whether it is, after work
 * that failed. SQLite is 3.24 or later.
 */
public final class IdempotencyTable {

    private static final Pattern NAME = Pattern.compile("\\w+(\\.\\w+)?");

    /**
     * In PostgreSQL a violation would end the transaction. MariaDB undoes the statement only; its
     * INSERT IGNORE would truncate a key that is too long.
     */
    private static final Set<String> KNOW_ON_CONFLICT = Set.of("PostgreSQL", "SQLite");

    /** MariaDB before 10.6.2 prepares no block: Connector/J is to put the values in. */
    private static final String MARIADB_BLOCK = "/*client prepare*/BEGIN NOT ATOMIC %s; END";

    /** Deletes keys. The inner query has a name since MariaDB takes no LIMIT in one of IN. */
    private static final String DELETION =
            "DELETE FROM %1$s WHERE id IN (SELECT id FROM"
                    + " (SELECT id FROM %1$s WHERE created < %2$s LIMIT %3$d) AS older)";

    final String update;
    private final String name;
    private final Statements withoutRequest;
    private final Statements withRequest;

    /**
     * A table, which is there.
     *
     * @param name without quotes, as {@code retry_key} or {@code shop.retry_key}
     */
    public IdempotencyTable(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("not a table's name: " + name);
        }
        this.name = name;
        update = "UPDATE " + name + " SET result = ? WHERE id = ?";
        withoutRequest = new Statements(name, "", "");
        withRequest = new Statements(name, ", request", ", ?");
    }

    /** Those that put a key there and find it, with a column for its request or without. */
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

        /** For a key that exists, it changes no row or fails, and the transaction goes on. */
        String insert(DatabaseMetaData database) throws SQLException {
            return KNOW_ON_CONFLICT.contains(database.getDatabaseProductName())
                    ? insertOrNothing
                    : insert;
        }

        /** Also commits. It does nothing else if the table has the key. Null for other databases. */
        String insertAndCommit(DatabaseMetaData database) throws SQLException {
            return insertAndCommit.get(database.getDatabaseProductName());
        }
    }

    /**
     * Deletes keys that are older, in whole seconds by the database's clock. It is to be called
     * again until it deletes less than {@code maxRows}, now and then. A call that comes again later
     * than this takes effect again. An index on {@code created} makes it fast.
     *
     * @return how many it deleted
     */
    public int deleteOlder(Connection connection, Duration than, int maxRows) throws SQLException {
        if (than.toSeconds() < 1 || maxRows < 1) {
            throw new IllegalArgumentException("at least a second and a row");
        }
        String moment =
                connection.getMetaData().getDatabaseProductName().equals("SQLite")
                        ? "datetime('now', '-%d seconds')"
                        : "CURRENT_TIMESTAMP - INTERVAL '%d' SECOND";
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(
                    DELETION.formatted(name, moment.formatted(than.toSeconds()), maxRows));
        }
    }

    /** True if a statement is one of {@link #insertAndCommit}. */
    static boolean commits(String sql) {
        return sql.endsWith("; COMMIT") || sql.endsWith("; COMMIT; END");
    }

    /** The key of a call whose result is a text. */
    public IdempotencyKey<String> key(String id) {
        return key(id, text -> text, text -> text);
    }

    /**
     * Makes the key of a call.
     *
     * @param id the key, of at most 255 characters. The client chooses it: the same one when it
     *     repeats a call, and a different one for each other call
     * @param write converts a result to text, for repeated calls; not called for null
     * @param read converts such a text to a result
     * @param <T> the type of the result
     * @return the key
     */
    public <T> IdempotencyKey<T> key(
            String id, Function<? super T, String> write, Function<String, ? extends T> read) {
        return new IdempotencyKey<>(this, id, null, write, read);
    }
}
