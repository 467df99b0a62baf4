// SPDX-License-Identifier: Apache-2.0
// The database-specific code; the cases are the same for all databases.
package benchlab.sql;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Properties;

/** The database of a case: its driver, its settings, and its database-specific SQL. */
public abstract class Database {
    private final Driver driver;
    private final String url;
    private final Properties properties;

    /** @param properties the driver's properties in addition to the URL */
    Database(Driver driver, String url, Properties properties) {
        this.driver = driver;
        this.url = url;
        this.properties = properties;
    }

    /**
     * Connects through the driver itself, because {@link java.sql.DriverManager} would load all
     * drivers on the class path.
     */
    public final Connection connect() throws SQLException {
        return driver.connect(url, properties);
    }

    /** Returns the value of a driver property: the value that was set, or the default. */
    final String property(String name) throws SQLException {
        for (DriverPropertyInfo known : driver.getPropertyInfo(url, properties)) {
            if (known.name.equals(name)) {
                return known.value;
            }
        }
        throw new SQLException("the driver has no property " + name);
    }

    /** Returns the connection's settings, as the experiment's README requires. */
    public abstract Map<String, String> settings(Connection connection) throws SQLException;

    /** Returns true if the database has the statement DO. */
    boolean hasDo() {
        return false;
    }

    /**
     * Returns the name of the column {@code nothing} of {@code test_mixed}, quoted if necessary.
     */
    String nothing() {
        return "nothing";
    }

    /** Binds a text, which the database converts to the type of the parameter. */
    void bindText(PreparedStatement statement, int parameter, String text) throws SQLException {
        statement.setString(parameter, text);
    }

    /** Returns the column {@code amount} of {@code test_mixed}, times 10,000. */
    long tenThousandths(ResultSet row, int column) throws SQLException {
        return row.getBigDecimal(column).movePointRight(4).longValueExact();
    }
}
