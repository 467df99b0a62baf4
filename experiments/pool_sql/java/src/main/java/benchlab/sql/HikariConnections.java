// SPDX-License-Identifier: Apache-2.0
// Connections in HikariCP.
package benchlab.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import javax.sql.DataSource;

final class HikariConnections extends ConnectionPool {

    static {
        // No connection is validated before a lease, as in the other pools.
        System.setProperty(
                "com.zaxxer.hikari.aliveBypassWindowMs",
                String.valueOf(TimeUnit.DAYS.toMillis(1)));
    }

    private final HikariDataSource pool;

    /** Creates the pool and opens all connections. */
    HikariConnections(Database database) throws SQLException {
        super(database);
        var options = new HikariConfig();
        options.setDataSource(new Opener(database));
        options.setMaximumPoolSize(CONNECTIONS);
        options.setMaxLifetime(0);
        options.setKeepaliveTime(0);
        options.setConnectionTimeout(TimeUnit.MINUTES.toMillis(1));
        pool = new HikariDataSource(options);
        try {
            openAll();
        } catch (SQLException | RuntimeException e) {
            pool.close();
            throw e;
        }
    }

    private void openAll() throws SQLException {
        var leased = new ArrayList<Connection>();
        try {
            for (int i = 0; i < CONNECTIONS; i++) {
                leased.add(pool.getConnection());
            }
        } finally {
            for (Connection connection : leased) {
                connection.close();
            }
        }
    }

    @Override
    <T> T lease(Use<T> use) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            return use.apply(connection);
        }
    }

    @Override
    public void close() {
        pool.close();
    }

    /** A data source that opens connections as the other pools do. */
    private record Opener(Database database) implements DataSource {

        @Override
        public Connection getConnection() throws SQLException {
            return database.connect();
        }

        @Override
        public Connection getConnection(String user, String password) throws SQLException {
            return getConnection();
        }

        @Override
        public PrintWriter getLogWriter() {
            return null;
        }

        @Override
        public void setLogWriter(PrintWriter out) {}

        @Override
        public void setLoginTimeout(int seconds) {}

        @Override
        public int getLoginTimeout() {
            return 0;
        }

        @Override
        public Logger getParentLogger() {
            return Logger.getGlobal();
        }

        @Override
        public <T> T unwrap(Class<T> type) throws SQLException {
            throw new SQLException("not a wrapper");
        }

        @Override
        public boolean isWrapperFor(Class<?> type) {
            return false;
        }
    }
}
