// SPDX-License-Identifier: Apache-2.0
// connect: open a connection, SELECT 1, fetch the row, close the connection.
package benchlab.sql;

import benchlab.kit.Case;
import benchlab.kit.Result;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

final class Connect implements Case {
    private final Database database;

    Connect(Database database) {
        this.database = database;
    }

    @Override
    public Map<String, String> settings() throws SQLException {
        try (Connection connection = database.connect()) {
            return database.settings(connection);
        }
    }

    @Override
    public Result perform(long operations) throws SQLException {
        long check = 0;
        for (long k = 0; k < operations; k++) {
            try (Connection connection = database.connect();
                    Statement statement = connection.createStatement();
                    ResultSet result = statement.executeQuery(SelectOne.SQL)) {
                check += SqlCase.fetch(result);
            }
        }
        return new Result(operations, check);
    }

    @Override
    public void close() {}
}
