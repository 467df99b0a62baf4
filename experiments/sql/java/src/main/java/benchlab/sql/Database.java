// SPDX-License-Identifier: Apache-2.0
// What differs between the databases; the cases are the same for all.
package benchlab.sql;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Properties;

/** The database of a case: how to connect to it, and what it has of its own. */
public abstract class Database {
    private final Driver driver;
    private final String url;
    private final Properties properties;

    /** @param properties what the driver is told beyond the URL */
    Database(Driver driver, String url, Properties properties) {
        this.driver = driver;
        this.url = url;
        this.properties = properties;
    }

    /** Asks the driver itself: {@link java.sql.DriverManager} would load all on the class path. */
    public final Connection connect() throws SQLException {
        return driver.connect(url, properties);
    }

    /** A property as the driver has it: as it was told, or its default. */
    final String property(String name) throws SQLException {
        for (DriverPropertyInfo known : driver.getPropertyInfo(url, properties)) {
            if (known.name.equals(name)) {
                return known.value;
            }
        }
        throw new SQLException("the driver has no property " + name);
    }

    /** The connection's settings, as the experiment's README requires. */
    public abstract Map<String, String> settings(Connection connection) throws SQLException;

    /** True if it has the statement DO. */
    boolean hasDo() {
        return false;
    }

    /** The name of the column {@code nothing} of {@code test_mixed}, as a query has it. */
    String nothing() {
        return "nothing";
    }

    /** The column {@code amount} of {@code test_mixed}, times 10,000. */
    long tenThousandths(ResultSet row, int column) throws SQLException {
        return row.getBigDecimal(column).movePointRight(4).longValueExact();
    }
}
