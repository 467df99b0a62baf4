// SPDX-License-Identifier: Apache-2.0
// SQLite with sqlite-jdbc.
package benchlab.sql;

import benchlab.kit.Arguments;
import benchlab.kit.Refusal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.sqlite.JDBC;
import org.sqlite.SQLiteConfig.Pragma;
import org.sqlite.SQLiteConnection;
import org.sqlite.SQLiteJDBCLoader;
import org.sqlite.SQLiteOpenMode;

/**
 * An SQLite database. The library prepares every statement, and the driver has no cache, so a
 * statement that is sent as text is the same as a prepared statement.
 */
final class Sqlite extends Database {
    private static final String TARGET = "sqlite:";
    private static final List<String> PRAGMAS =
            List.of(
                    "journal_mode",
                    "synchronous",
                    "encoding",
                    "page_size",
                    "cache_size",
                    "secure_delete");

    private final List<String> readBack;

    /**
     * @param pragmas pragmas of each connection, in addition to the driver's own; they are reported
     *     as settings too
     */
    Sqlite(Arguments arguments, Map<String, String> pragmas) throws Refusal {
        super(new JDBC(), url(arguments.text("target")), properties(pragmas));
        readBack = Stream.concat(PRAGMAS.stream(), pragmas.keySet().stream()).toList();
    }

    static String library() {
        return "sqlite-jdbc " + SQLiteJDBCLoader.getVersion();
    }

    @Override
    public Map<String, String> settings(Connection connection) throws SQLException {
        var settings = new LinkedHashMap<String, String>();
        settings.put("version", query(connection, "SELECT sqlite_version()"));
        settings.put("source_id", query(connection, "SELECT sqlite_source_id()"));
        for (String pragma : readBack) {
            settings.put(pragma, query(connection, "PRAGMA " + pragma));
        }
        settings.put("threading", threading(connection));
        settings.put("statement_cache", "0"); // the driver has none
        settings.put("autocommit", connection.getAutoCommit() ? "1" : "0");
        return settings;
    }

    /**
     * Quotes the name, because {@code nothing} is a keyword of SQLite, as in ON CONFLICT DO
     * NOTHING.
     */
    @Override
    String nothing() {
        return "\"nothing\"";
    }

    /** Rounds a double, because SQLite has no decimals. */
    @Override
    long tenThousandths(ResultSet row, int column) throws SQLException {
        return Math.round(row.getDouble(column) * 10_000);
    }

    /**
     * Returns the threading mode that the library was built with, unless the driver's flags select
     * another mode.
     */
    private static String threading(Connection connection) throws SQLException {
        var opened = connection.unwrap(SQLiteConnection.class).getDatabase().getConfig();
        int flags = opened.getOpenModeFlags();
        String built =
                query(
                        connection,
                        "SELECT substr(compile_options, 12) FROM pragma_compile_options"
                                + " WHERE compile_options LIKE 'THREADSAFE=%'");
        if (built.equals("0")) {
            return "single-thread";
        }
        if ((flags & SQLiteOpenMode.NOMUTEX.flag) != 0) {
            return "multi-thread";
        }
        boolean isSerialized = built.equals("1") || (flags & SQLiteOpenMode.FULLMUTEX.flag) != 0;
        return isSerialized ? "serialized" : "multi-thread";
    }

    private static String url(String target) throws Refusal {
        if (!target.startsWith(TARGET)) {
            throw Refusal.unsupported("the target must be " + TARGET + "PATH");
        }
        return "jdbc:" + target;
    }

    /**
     * Returns the connection properties: the given pragmas, and two settings that override the
     * driver's defaults. By default the driver creates a missing file, which would hide a wrong
     * target. It also prepares and runs SELECT last_insert_rowid() after every INSERT, in case the
     * program requests generated keys, which no case does.
     */
    private static Properties properties(Map<String, String> pragmas) {
        var properties = new Properties();
        properties.setProperty(
                Pragma.OPEN_MODE.getPragmaName(), String.valueOf(SQLiteOpenMode.READWRITE.flag));
        properties.setProperty(Pragma.JDBC_GET_GENERATED_KEYS.getPragmaName(), "false");
        properties.putAll(pragmas);
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
