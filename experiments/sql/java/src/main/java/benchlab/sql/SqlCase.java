// SPDX-License-Identifier: Apache-2.0
// The common base of the cases that measure with one connection.
package benchlab.sql;

import benchlab.kit.Case;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;

abstract class SqlCase implements Case {
    final Database database;

    /** The case's own connection; closing it also releases its statements, as JDBC requires. */
    final Connection connection;

    SqlCase(Database database, Connection connection) {
        this.database = database;
        this.connection = connection;
    }

    @Override
    public Map<String, String> settings() throws SQLException {
        return database.settings(connection);
    }

    @Override
    public final void close() throws SQLException {
        connection.close();
    }

    /** Returns the number in a result of one row. */
    static int fetch(ResultSet result) throws SQLException {
        toRow(result);
        int value = result.getInt(1);
        toEnd(result);
        return value;
    }

    /** Moves to the first row of a result. */
    static void toRow(ResultSet result) throws SQLException {
        if (!result.next()) {
            throw new SQLException("the query returned no row");
        }
    }

    /** Reads a result to its end. Only the end shows that the result has no second row. */
    static void toEnd(ResultSet result) throws SQLException {
        if (result.next()) {
            throw new SQLException("the query returned more than one row");
        }
    }
}
