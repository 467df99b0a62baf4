// SPDX-License-Identifier: Apache-2.0
// What the cases share that measure with one connection.
package benchlab.sql;

import benchlab.kit.Case;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;

abstract class SqlCase implements Case {
    /** The case's own; closing it releases its statements too, as JDBC has it. */
    final Connection connection;

    SqlCase(Connection connection) {
        this.connection = connection;
    }

    @Override
    public final Map<String, String> settings() throws SQLException {
        return Database.settings(connection);
    }

    @Override
    public final void close() throws SQLException {
        connection.close();
    }

    /** The number in a result of one row, which is read to its end to know that it is the only. */
    static long fetch(ResultSet result) throws SQLException {
        if (!result.next()) {
            throw new SQLException("the query gave no row");
        }
        long value = result.getLong(1);
        if (result.next()) {
            throw new SQLException("the query gave more than one row");
        }
        return value;
    }
}
