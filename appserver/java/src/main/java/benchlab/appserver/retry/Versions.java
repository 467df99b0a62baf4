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
     * Runs an UPDATE or DELETE of one record. The MariaDB driver must count the rows that were
     * found, as it does unless told {@code useAffectedRows}.
     *
     * @throws StaleVersionException if it hits no row
     * @throws IllegalStateException if it hits several: its condition is no key
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
