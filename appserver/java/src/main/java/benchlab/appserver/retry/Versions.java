// SPDX-License-Identifier: Apache-2.0
// Optimistic locking with a version column.
package benchlab.appserver.retry;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Updates of records that have a version column, whose statement names the version that was read:
 *
 * <pre>{@code
 * UPDATE article SET price = ?, version = version + 1 WHERE id = ? AND version = ?
 * }</pre>
 */
public final class Versions {

    private Versions() {}

    /**
     * Executes an UPDATE or DELETE of one record. The MariaDB driver must count the rows that were
     * found: do not set {@code useAffectedRows}.
     *
     * @param statement the statement, whose condition includes the version that was read
     * @throws SQLException if the statement fails
     * @throws StaleVersionException if it changed no row
     * @throws IllegalStateException if it changed multiple rows: its condition is not a key
     */
    public static void executeVersioned(PreparedStatement statement) throws SQLException {
        int rows = statement.executeUpdate();
        if (rows == 0) {
            throw new StaleVersionException();
        } else if (rows != 1) {
            throw new IllegalStateException("the condition is no key: it hit " + rows + " rows");
        }
    }
}
