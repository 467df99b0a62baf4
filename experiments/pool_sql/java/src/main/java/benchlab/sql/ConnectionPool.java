// SPDX-License-Identifier: Apache-2.0
// Connections to a database in the pool of appserver/java.
package benchlab.sql;

import benchlab.appserver.pool.Lease;
import benchlab.appserver.pool.Pool;
import benchlab.appserver.pool.PoolOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Map;

final class ConnectionPool implements AutoCloseable {

    private static final int CONNECTIONS = 4;

    private final Database database;
    private final Pool<Connection> pool;

    /** Opens all connections. */
    ConnectionPool(Database database) throws InterruptedException {
        this.database = database;
        pool =
                new Pool<>(
                        CONNECTIONS,
                        PoolOptions.<Connection>of(database::connect).destroy(Connection::close));
        try {
            openAll();
        } catch (InterruptedException | RuntimeException e) {
            pool.close();
            throw e;
        }
    }

    private void openAll() throws InterruptedException {
        var leases = new ArrayList<Lease<Connection>>();
        try {
            for (int i = 0; i < CONNECTIONS; i++) {
                leases.add(pool.lease());
            }
        } finally {
            leases.forEach(Lease::close);
        }
    }

    /** Leases a connection for SELECT 1, and returns the result. */
    long request() throws InterruptedException, SQLException {
        try (Lease<Connection> lease = pool.lease();
                Statement statement = lease.resource().createStatement();
                ResultSet result = statement.executeQuery(SelectOne.SQL)) {
            return SqlCase.fetch(result);
        }
    }

    Map<String, String> settings() throws InterruptedException, SQLException {
        try (Lease<Connection> lease = pool.lease()) {
            return database.settings(lease.resource());
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
