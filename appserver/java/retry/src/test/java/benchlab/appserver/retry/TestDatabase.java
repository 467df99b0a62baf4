// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.stream.Stream;

/** A private test database, dropped at the end: SQLite, or a server that the environment names. */
abstract class TestDatabase implements AutoCloseable {

    private static final String SCHEMA = "java_retry_test_" + ProcessHandle.current().pid();

    abstract Connection connect() throws SQLException;

    /** Returns an SQL query for the ID of the session; null in SQLite. */
    abstract String sessionQuery();

    abstract String endSession(long id);

    /** Returns an SQL query for the number of statements that wait for a lock; null in SQLite. */
    abstract String lockWaitsQuery();

    /** Returns the type of a key of at most 255 characters. */
    String keyType() {
        return "varchar(255)";
    }

    /** Returns the type of a timestamp that does not depend on the session's time zone. */
    String momentType() {
        return "timestamp";
    }

    /** Returns a statement that sets the session to a time zone east of UTC; null in SQLite. */
    abstract String zoneSetting(int hours);

    @Override
    public abstract void close() throws SQLException;

    void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    long number(String sql) throws SQLException {
        try (Connection connection = connect()) {
            return number(connection, sql);
        }
    }

    static long number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    static int update(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        }
    }

    static final class Sqlite extends TestDatabase {
        private final Path folder;

        Sqlite() throws SQLException {
            try {
                folder = Files.createTempDirectory("retry");
                execute("PRAGMA journal_mode = WAL");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /**
         * Connects without a timeout for locks: a statement that meets a lock fails immediately.
         */
        @Override
        Connection connect() throws SQLException {
            return DriverManager.getConnection(
                    "jdbc:sqlite:" + folder.resolve("test.db") + "?busy_timeout=0&synchronous=OFF");
        }

        @Override
        String sessionQuery() {
            return null;
        }

        @Override
        String endSession(long id) {
            throw new UnsupportedOperationException("SQLite has no sessions");
        }

        @Override
        String zoneSetting(int hours) {
            return null;
        }

        @Override
        String lockWaitsQuery() {
            return null;
        }

        /**
         * Returns a type with a check of the length, because varchar has no length limit in SQLite.
         */
        @Override
        String keyType() {
            return "text CHECK (length(id) <= 255)";
        }

        @Override
        public void close() {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
                Files.delete(folder);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private abstract static class Server extends TestDatabase {
        final URI server;

        Server(String variable) {
            server = URI.create(System.getenv(variable));
        }

        final Connection connect(String path) throws SQLException {
            String[] user = server.getRawUserInfo().split(":", 2);
            return DriverManager.getConnection(
                    "jdbc:%s://%s:%d%s"
                            .formatted(
                                    server.getScheme(), server.getHost(), server.getPort(), path),
                    URLDecoder.decode(user[0], StandardCharsets.UTF_8),
                    URLDecoder.decode(user[1], StandardCharsets.UTF_8));
        }

        final void executeOnServer(String sql) throws SQLException {
            try (Connection connection = connect(server.getRawPath())) {
                update(connection, sql);
            }
        }
    }

    static final class Postgresql extends Server {
        static final String VARIABLE = "LAB_POSTGRESQL";

        Postgresql() throws SQLException {
            super(VARIABLE);
            executeOnServer("CREATE SCHEMA " + SCHEMA);
        }

        @Override
        Connection connect() throws SQLException {
            return connect(server.getRawPath() + "?currentSchema=" + SCHEMA);
        }

        @Override
        String sessionQuery() {
            return "SELECT pg_backend_pid()";
        }

        @Override
        String endSession(long id) {
            return "SELECT pg_terminate_backend(" + id + ")";
        }

        @Override
        String momentType() {
            return "timestamptz";
        }

        @Override
        String zoneSetting(int hours) {
            return "SET TimeZone = 'Etc/GMT-" + hours + "'";
        }

        @Override
        String lockWaitsQuery() {
            return "SELECT count(*) FROM pg_locks WHERE NOT granted";
        }

        @Override
        public void close() throws SQLException {
            executeOnServer("DROP SCHEMA " + SCHEMA + " CASCADE");
        }
    }

    static final class MariaDb extends Server {
        static final String VARIABLE = "LAB_MARIADB";

        MariaDb() throws SQLException {
            super(VARIABLE);
            executeOnServer("CREATE DATABASE " + SCHEMA);
        }

        @Override
        Connection connect() throws SQLException {
            return connect("/" + SCHEMA);
        }

        @Override
        String sessionQuery() {
            return "SELECT connection_id()";
        }

        @Override
        String endSession(long id) {
            return "KILL " + id;
        }

        @Override
        String zoneSetting(int hours) {
            return "SET time_zone = '+" + hours + ":00'";
        }

        @Override
        String lockWaitsQuery() {
            return "SELECT variable_value FROM information_schema.GLOBAL_STATUS"
                    + " WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'";
        }

        @Override
        String keyType() {
            return "varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";
        }

        @Override
        public void close() throws SQLException {
            executeOnServer("DROP DATABASE " + SCHEMA);
        }
    }
}
