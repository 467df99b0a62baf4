// SPDX-License-Identifier: Apache-2.0
// The database file of a case: how to connect to it, and what its settings are.
package benchlab.sql;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.sqlite.SQLiteConfig.Pragma;
import org.sqlite.SQLiteOpenMode;

/** @param url the JDBC URL */
record Database(String url) {
    private static final List<String> PRAGMAS =
            List.of("journal_mode", "synchronous", "encoding", "page_size", "cache_size", "secure_delete");

    Connection connect() throws SQLException {
        return DriverManager.getConnection(url, properties());
    }

    /** What the connection says of itself, as the experiment's README asks. */
    static Map<String, String> settings(Connection connection) throws SQLException {
        var settings = new LinkedHashMap<String, String>();
        settings.put("version", query(connection, "SELECT sqlite_version()"));
        settings.put("source_id", query(connection, "SELECT sqlite_source_id()"));
        for (String pragma : PRAGMAS) {
            settings.put(pragma, query(connection, "PRAGMA " + pragma));
        }
        settings.put("autocommit", connection.getAutoCommit() ? "1" : "0");
        return settings;
    }

    /**
     * The driver's defaults, but for two. Told nothing, it makes a file that is not there, which
     * would hide a wrong target. And it prepares and runs SELECT last_insert_rowid() after every
     * INSERT, in case someone asks for generated keys: no case does.
     */
    private static Properties properties() {
        var properties = new Properties();
        properties.setProperty(
                Pragma.OPEN_MODE.getPragmaName(), String.valueOf(SQLiteOpenMode.READWRITE.flag));
        properties.setProperty(Pragma.JDBC_GET_GENERATED_KEYS.getPragmaName(), "false");
        return properties;
    }

    private static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
