// SPDX-License-Identifier: Apache-2.0
// A database with the experiment's tables, as seen from outside the subject.
package benchlab.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

interface TestDatabase {

    /** Returns a subject for this database. */
    SqlSubject subject();

    /** Returns the target as the argument {@code target} of {@code open}. */
    String target();

    /**
     * Returns the columns of {@code test_simple}; {@code suffix} is the text that follows them in
     * CREATE TABLE.
     */
    String columns();

    String suffix();

    /** Returns the columns of {@code test_mixed}. */
    String mixedColumns();

    Connection connect() throws SQLException;

    default void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate(sql);
        }
    }

    /** Returns the first column of a query's result, as integers. */
    default List<Long> column(String sql) throws SQLException {
        var values = new ArrayList<Long>();
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                values.add(rows.getLong(1));
            }
        }
        return values;
    }
}
