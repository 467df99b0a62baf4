// SPDX-License-Identifier: Apache-2.0
// The databases.
package benchlab.retry;

import benchlab.sql.SqlSubject;

/**
 * @param sql the SQL experiment's subject for the same target, which knows how to connect
 * @param keyType the type of a column with idempotency keys
 */
record Target(SqlSubject sql, String keyType) {

    static Target named(String name, String subject) {
        return switch (name) {
            case "postgresql" -> new Target(SqlSubject.postgresql(subject), "varchar(255)");
            case "mariadb" -> new Target(
                    SqlSubject.mariaDb(subject),
                    "varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin");
            default -> throw new IllegalArgumentException(name);
        };
    }
}
