// SPDX-License-Identifier: Apache-2.0
// Connections in the pool of appserver/java.
package benchlab.sql;

import benchlab.appserver.pool.Lease;
import benchlab.appserver.pool.Pool;
import benchlab.appserver.pool.PoolOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;

final class AppserverConnections extends ConnectionPool {

    private final Pool<Connection> pool;

    /** Creates the pool and opens all connections. */
    AppserverConnections(Database database) throws InterruptedException {
        super(database);
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

    @Override
    <T> T lease(Use<T> use) throws InterruptedException, SQLException {
        try (Lease<Connection> lease = pool.lease()) {
            return use.apply(lease.resource());
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
