// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Optimistic locking with a version column. The statement contains the version that was read:
 *
 * <pre>{@code
 * UPDATE article SET price = ?, version = version + 1 WHERE id = ? AND version = ?
 * }</pre>
 */
public final class Versions {

    private Versions() {}

    /**
     * Executes an UPDATE or DELETE of one record. The MariaDB driver must count the rows that were
     * found, so do not set {@code useAffectedRows}.
     *
     * @param statement the statement, whose condition includes the version that was read
     * @throws SQLException if the statement fails
     * @throws StaleVersionException if the statement changed no row
     * @throws IllegalStateException if the statement changed multiple rows because its condition
     *     does not identify a record
     */
    public static void executeVersioned(PreparedStatement statement) throws SQLException {
        int rows = statement.executeUpdate();
        if (rows == 0) {
            throw new StaleVersionException();
        } else if (rows != 1) {
            throw new IllegalStateException("the condition must identify one record, but matched " + rows + " rows");
        }
    }
}
