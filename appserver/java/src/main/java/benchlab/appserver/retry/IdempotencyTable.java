// SPDX-License-Identifier: Apache-2.0
// Where the keys of calls and their results are kept.
package benchlab.appserver.retry;

import java.sql.DatabaseMetaData;
import java.sql.SQLException;
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
 *     created timestamp DEFAULT CURRENT_TIMESTAMP)
 * }</pre>
 *
 * <p>Two keys must be the same only if they are equal, which in MariaDB needs {@code id} to be
 * {@code varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin}. Rows older than the longest
 * time after which a call is made again can be deleted.
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

    final String select;
    final String update;
    private final String insert;
    private final String insertOrNothing;
    private final Map<String, String> insertAndCommit;

    /**
     * A table, which is there.
     *
     * @param name without quotes, as {@code retry_key} or {@code shop.retry_key}
     */
    public IdempotencyTable(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("not a table's name: " + name);
        }
        select = "SELECT result FROM " + name + " WHERE id = ?";
        update = "UPDATE " + name + " SET result = ? WHERE id = ?";
        insert = "INSERT INTO " + name + " (id) VALUES (?)";
        insertOrNothing = insert + " ON CONFLICT DO NOTHING";
        String statements = "INSERT INTO " + name + " (id, result) VALUES (?, ?); COMMIT";
        insertAndCommit =
                Map.of("PostgreSQL", statements, "MariaDB", MARIADB_BLOCK.formatted(statements));
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

    /** Whether a statement is one of {@link #insertAndCommit}. */
    static boolean commits(String sql) {
        return sql.endsWith("; COMMIT") || sql.endsWith("; COMMIT; END");
    }

    /** The key of a call whose result is a text. */
    public IdempotencyKey<String> key(String id) {
        return key(id, text -> text, text -> text);
    }

    /**
     * The key of a call.
     *
     * @param id as the client chose it: the same when the same call is made again, and no other
     *     call's; at most 255 characters
     * @param write a result as text, for who comes again; null is kept as null, and not asked for
     * @param read the result of such a text
     */
    public <T> IdempotencyKey<T> key(
            String id, Function<? super T, String> write, Function<String, ? extends T> read) {
        return new IdempotencyKey<>(this, id, write, read);
    }
}
