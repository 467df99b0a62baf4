// SPDX-License-Identifier: Apache-2.0
// Four connections to a database in a pool.
package benchlab.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

abstract class ConnectionPool implements AutoCloseable {

    static final int CONNECTIONS = 4;

    private final Database database;

    ConnectionPool(Database database) {
        this.database = database;
    }

    /** Uses a leased connection. */
    @FunctionalInterface
    interface Use<T> {
        T apply(Connection connection) throws SQLException;
    }

    /** Leases a connection, uses it, and returns it. */
    abstract <T> T lease(Use<T> use) throws InterruptedException, SQLException;

    /** Leases a connection for SELECT 1, and returns the result. */
    final long request() throws InterruptedException, SQLException {
        return lease(ConnectionPool::selectOne);
    }

    private static long selectOne(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(SelectOne.SQL)) {
            return SqlCase.fetch(result);
        }
    }

    final Map<String, String> settings() throws InterruptedException, SQLException {
        return lease(database::settings);
    }

    @Override
    public abstract void close();
}
