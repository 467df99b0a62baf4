// SPDX-License-Identifier: Apache-2.0
// Tests that the names of queries contain no literals, by the rules of each database.
package benchlab.appserver.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.mariadb.jdbc.MariaDbDataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.sqlite.SQLiteDataSource;

class QueryNamesTest {

    private static final String POSTGRESQL = "LAB_POSTGRESQL";
    private static final String MARIADB = "LAB_MARIADB";

    private final Monitor monitor = new Monitor();

    @Test
    void sqlite() throws Exception {
        var inner = new SQLiteDataSource();
        inner.setUrl("jdbc:sqlite::memory:");
        try (Connection connection = new MonitoredDataSource(inner, monitor).getConnection()) {
            isNamed(
                    connection,
                    "SELECT 'a\\' AS \"it's\", 'b' AS c",
                    "SELECT ? AS \"it's\", ? AS c");
        }
    }

    @Test
    @EnabledIfEnvironmentVariable(named = POSTGRESQL, matches = ".+")
    void postgresql() throws Exception {
        try (Connection connection = open(postgresql(""))) {
            isNamed(
                    connection,
                    "SELECT 'a\\' AS \"it's\", 'b' AS c",
                    "SELECT ? AS \"it's\", ? AS c");
            isNamed(connection, "SELECT E'it\\'s', $a$it's$a$, 5 AS d", "SELECT ?, ... AS d");
        }
    }

    @Test
    @EnabledIfEnvironmentVariable(named = POSTGRESQL, matches = ".+")
    void postgresqlWithBackslashes() throws Exception {
        String options = "?options=-c%20standard_conforming_strings=off";
        try (Connection connection = open(postgresql(options))) {
            isNamed(connection, "SELECT 'it\\'s secret' AS \"a\\\"", "SELECT ? AS \"a\\\"");
        }
    }

    @Test
    @EnabledIfEnvironmentVariable(named = MARIADB, matches = ".+")
    void mariaDb() throws Exception {
        try (Connection connection = open(mariaDb(""))) {
            isNamed(connection, "SELECT 'it\\'s secret' AS x", "SELECT ? AS x");
            isNamed(
                    connection,
                    "SELECT \"it\\\"s\" AS y # don't\n, 'b' AS z",
                    "SELECT ? AS y , ? AS z");
        }
    }

    @Test
    @EnabledIfEnvironmentVariable(named = MARIADB, matches = ".+")
    void mariaDbWithModesInTheUrl() throws Exception {
        String mode = "?sessionVariables=sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES'";
        try (Connection connection = open(mariaDb(mode))) {
            isNamed(connection, "SELECT 'a\\' AS \"v w\", 'b' AS u", "SELECT ? AS \"v w\", ? AS u");
        }
    }

    @Test
    @EnabledIfEnvironmentVariable(named = MARIADB, matches = ".+")
    void theRulesOfMariaDbAreKnownWithoutAskingTheServer() throws Exception {
        try (Connection connection = mariaDb("").getConnection()) {
            long before = statementsSent(connection);
            assertEquals(TextRules.MARIADB, TextRules.of(connection));
            assertEquals(before + 1, statementsSent(connection));
        }
    }

    private static long statementsSent(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery("SHOW SESSION STATUS LIKE 'Questions'")) {
            row.next();
            return row.getLong(2);
        }
    }

    private Connection open(DataSource inner) throws SQLException {
        return new MonitoredDataSource(inner, monitor).getConnection();
    }

    /** Executes a statement in each way, and checks under which name the monitor counts it. */
    private void isNamed(Connection connection, String text, String name) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(text);
        }
        try (var statement = connection.prepareStatement(text)) {
            statement.execute();
        }
        assertEquals(2, monitor.statistics(Monitor.NO_REQUEST, name).count(), text);
    }

    private static DataSource postgresql(String options) {
        URI server = URI.create(System.getenv(POSTGRESQL));
        var source = new PGSimpleDataSource();
        source.setUrl(url(server, options));
        source.setUser(credential(server, 0));
        source.setPassword(credential(server, 1));
        return source;
    }

    private static DataSource mariaDb(String options) throws SQLException {
        URI server = URI.create(System.getenv(MARIADB));
        var source = new MariaDbDataSource(url(server, options));
        source.setUser(credential(server, 0));
        source.setPassword(credential(server, 1));
        return source;
    }

    private static String url(URI server, String options) {
        return "jdbc:%s://%s:%d%s%s"
                .formatted(
                        server.getScheme(),
                        server.getHost(),
                        server.getPort(),
                        server.getRawPath(),
                        options);
    }

    private static String credential(URI server, int place) {
        String part = server.getRawUserInfo().split(":", 2)[place];
        return URLDecoder.decode(part, StandardCharsets.UTF_8);
    }
}
