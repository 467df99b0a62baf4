// SPDX-License-Identifier: Apache-2.0
package benchlab.retry;

import benchlab.sql.SqlSubject;
import java.util.Map;

/**
 * A database, with the SQL that depends on it.
 *
 * @param sql the SQL experiment's subject for this database; it opens the connections
 * @param keyType the type of a column with idempotency keys
 * @param insertIfAbsent an INSERT of a key, with a placeholder for the name of the table
 */
record Target(SqlSubject sql, String keyType, String insertIfAbsent) {

    private static final String BUSY_TIMEOUT_MS = "1000";
    private static final String OR_NOTHING =
            "INSERT INTO %s (id) VALUES (?) ON CONFLICT DO NOTHING";

    static Target named(String name, String subject) {
        return switch (name) {
            case "sqlite" -> new Target(
                    SqlSubject.sqlite(subject, Map.of("busy_timeout", BUSY_TIMEOUT_MS)),
                    "varchar(255)",
                    OR_NOTHING);
            case "postgresql" -> new Target(
                    SqlSubject.postgresql(subject), "varchar(255)", OR_NOTHING);
            case "mariadb" -> new Target(
                    SqlSubject.mariaDb(subject),
                    "varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
                    "INSERT IGNORE INTO %s (id) VALUES (?)");
            default -> throw new IllegalArgumentException(name);
        };
    }
}
