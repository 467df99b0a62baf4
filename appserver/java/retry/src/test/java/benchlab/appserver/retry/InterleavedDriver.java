// SPDX-License-Identifier: Apache-2.0
// A driver for the pools of containers, whose commits a FaultInjector intercepts.
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;

/** Pools create the driver by its class name, so all instances share one source. */
public final class InterleavedDriver implements Driver {
    static final String URL = "jdbc:interleaved:";

    private static volatile Transactions.Source source;

    static void use(Transactions.Source connections) {
        source = connections;
    }

    @Override
    public Connection connect(String url, Properties info) throws SQLException {
        return acceptsURL(url) ? source.open() : null;
    }

    @Override
    public boolean acceptsURL(String url) {
        return url.startsWith(URL);
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
        return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
        return 1;
    }

    @Override
    public int getMinorVersion() {
        return 0;
    }

    @Override
    public boolean jdbcCompliant() {
        return false;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }
}
