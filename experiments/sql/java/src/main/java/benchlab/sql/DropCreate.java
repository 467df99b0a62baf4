// SPDX-License-Identifier: Apache-2.0
// drop_create: DROP TABLE, then CREATE TABLE, each committed by itself.
package benchlab.sql;

import benchlab.kit.Result;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

final class DropCreate extends SqlCase {
    private static final String DROP = "DROP TABLE test_simple";

    private final String create;

    /** @param create the statement that creates the table, in the database's syntax */
    DropCreate(Database database, Connection connection, String create) {
        super(database, connection);
        this.create = create;
    }

    @Override
    public Result perform(long operations) throws SQLException {
        for (long k = 0; k < operations; k++) {
            try (Statement statement = connection.createStatement()) {
                statement.executeUpdate(DROP);
                statement.executeUpdate(create);
            }
        }
        return new Result(operations, operations);
    }
}
