// SPDX-License-Identifier: Apache-2.0
// Tests the cases: what each does to a database and returns, compared with values computed here.
package benchlab.sql;

import static benchlab.sql.Dialogue.encode;
import static benchlab.sql.Dialogue.verified;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CasesTest {
    private static final int ROWS = 200;

    @Nested
    class OnSqlite extends OnDatabase {
        @BeforeAll
        void prepare(@TempDir Path folder) {
            database = new DatabaseFile(folder.resolve("test.db"));
        }
    }

    @Nested
    @EnabledIfEnvironmentVariable(named = "LAB_POSTGRESQL", matches = ".+")
    class OnPostgresql extends OnServer {
        @BeforeAll
        void prepare() throws SQLException {
            database = new TestServer.Postgresql();
        }

        @Override
        int keptStatements() {
            return 256;
        }
    }

    @Nested
    @EnabledIfEnvironmentVariable(named = "LAB_MARIADB", matches = ".+")
    class OnMariaDb extends OnServer {
        @BeforeAll
        void prepare() throws SQLException {
            database = new TestServer.MariaDb();
        }

        @Override
        int keptStatements() {
            return 250;
        }

        @Test
        void does() throws Exception {
            assertEquals(
                    List.of(verified(1, 1, 1), verified(5, 5, 5), "@lab closed"),
                    work("do_1", "verify", "verify operations=5", "close"));
        }
    }

    @TestInstance(Lifecycle.PER_CLASS)
    abstract static class OnDatabase {
        TestDatabase database;

        @BeforeEach
        void createTables() throws SQLException {
            database.execute("DROP TABLE IF EXISTS test_simple");
            database.execute("DROP TABLE IF EXISTS test_mixed");
            database.execute(create(""));
        }

        @ParameterizedTest
        @ValueSource(strings = {"connect", "select_1 statement=prepared", "select_1 statement=text"})
        void fetchesOne(String selection) throws Exception {
            assertEquals(
                    List.of(verified(1, 1, 1), verified(7, 7, 7), "@lab closed"),
                    work(selection, "verify", "verify operations=7", "close"));
        }

        @ParameterizedTest
        @CsvSource({
            "prepared, 1", "prepared, 10", "prepared, 200", "text, 1", "text, 10", "text, 200"
        })
        void selectsRows(String statement, int limit) throws Exception {
            fillTable();
            long sum = 0;
            for (int id = 1; id <= limit; id++) {
                sum += id + valueOf(id);
            }
            assertEquals(
                    List.of(verified(1, limit, sum), verified(7, 7 * limit, 7 * sum)),
                    work(
                            "select limit=" + limit + " statement=" + statement,
                            "verify",
                            "verify operations=7"));
        }

        @Test
        void countsTheRowsThatThereAre() throws Exception {
            fillTable();
            String answer = work("select limit=1000 statement=prepared", "verify").get(0);
            assertTrue(answer.contains(" units=200 "), answer);
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "point statement=prepared",
                    "point statement=text",
                    "connections connections=1",
                    "connections connections=3",
                    "connections connections=30"
                })
        void pointsAtRows(String selection) throws Exception {
            fillTable();
            long sum = 0;
            for (int k = 0; k < 20; k++) {
                sum += valueOf(Expected.id(k, ROWS));
            }
            assertEquals(
                    List.of(verified(20, 20, sum), verified(20, 20, sum)),
                    work(
                            selection + " rows=" + ROWS,
                            "verify operations=20",
                            "verify operations=20"));
        }

        @ParameterizedTest
        @ValueSource(strings = {"point statement=prepared", "point statement=text", "mixed"})
        void failsWhereARowIsMissing(String selection) throws Exception {
            createMixed();
            assertEquals(
                    List.of(
                            "@lab error code=failed message=the%20query%20returned%20no%20row",
                            "@lab closed"),
                    work(selection + " rows=200", "verify", "close"));
        }

        /**
         * Tests both ends of every type's range, characters of one to four bytes, and moments that
         * differ by one ms.
         */
        @Test
        void decodesEveryColumn() throws Exception {
            createMixed();
            var moment = LocalDateTime.of(2069, 12, 31, 23, 59, 59, 999_000_000);
            long sum = 0;
            for (int id = 1; id <= 2; id++) {
                long sign = id == 1 ? -1 : 1;
                long amount = sign * 999_999_999_999_999L;
                String name = "aé€😀".repeat(5) + id;
                int small = id == 1 ? Integer.MIN_VALUE : Integer.MAX_VALUE;
                long big = id == 1 ? Long.MIN_VALUE : Long.MAX_VALUE;
                insertMixed(id, small, big, BigDecimal.valueOf(amount, 4), name, moment);
                long letters = 5 * ('a' + 'é' + '€' + 0x1F600) + '0' + id;
                long ms = moment.toEpochSecond(ZoneOffset.UTC) * 1000 + 999;
                long times = 0;
                for (int k = 0; k < 20; k++) {
                    times += Expected.id(k, 2) == id ? 1 : 0;
                }
                sum += times * (big + id + small + amount + letters + 1 + ms);
            }
            assertEquals(
                    List.of(verified(20, 20, sum), verified(20, 20, sum)),
                    work("mixed rows=2", "verify operations=20", "verify operations=20"));
        }

        @ParameterizedTest
        @ValueSource(strings = {"insert statement=prepared", "insert statement=text"})
        void insertsRows(String selection) throws Exception {
            long sum = sum(Expected.values(5));
            assertEquals(
                    List.of(verified(5, 5, sum), verified(5, 5, sum)),
                    work(selection, "verify operations=5", "verify operations=5"));
            assertEquals(valuesTwice(5), values());
        }

        @Test
        void insertsRowsInTransactions() throws Exception {
            long sum = sum(Expected.values(28));
            assertEquals(
                    List.of(verified(7, 28, sum), verified(7, 28, sum)),
                    work("insert_tx rows_tx=4", "verify operations=7", "verify operations=7"));
            assertEquals(valuesTwice(28), values());
        }

        @Test
        void rollsAFailedTransactionBack() throws Exception {
            database.execute("DROP TABLE test_simple");
            database.execute(create(", CHECK (value <> " + Expected.value(5) + ")"));
            List<String> replies =
                    work("insert_tx rows_tx=4", "verify operations=2", "verify", "close");
            assertTrue(replies.get(0).startsWith("@lab error code=failed message="), replies.get(0));
            assertEquals(verified(1, 4, sum(Expected.values(4))), replies.get(1));
            assertEquals(valuesTwice(4), values());
        }

        @Test
        void updatesRows() throws Exception {
            fillTable();
            var expected = new ArrayList<>(filled());
            long sum = 0;
            for (int k = 0; k < 9; k++) {
                long amount = Expected.amount(k);
                sum += amount;
                int row = Expected.id(k, ROWS) - 1;
                expected.set(row, expected.get(row) + amount);
            }
            assertEquals(
                    List.of(verified(9, 9, sum)),
                    work("update_point rows=" + ROWS, "verify operations=9"));
            assertEquals(expected, values());
        }

        @Test
        void transfersAmounts() throws Exception {
            fillTable();
            var expected = new ArrayList<>(filled());
            long sum = 0;
            for (int k = 0; k < 9; k++) {
                long amount = Expected.amount(k);
                sum += amount;
                int from = Expected.id(k, ROWS) - 1;
                expected.set(from, expected.get(from) - amount);
                int to = Expected.destination(k, ROWS) - 1;
                expected.set(to, expected.get(to) + amount);
            }
            assertEquals(
                    List.of(verified(9, 18, sum)),
                    work("transfer rows=" + ROWS, "verify operations=9"));
            assertEquals(expected, values());
        }

        @Test
        void dropsAndCreatesTheTable() throws Exception {
            fillTable();
            database.execute("ALTER TABLE test_simple ADD COLUMN old integer");
            assertEquals(
                    List.of(verified(3, 3, 3)),
                    work("drop_create table=" + encode(create("")), "verify operations=3"));
            assertEquals(List.of(), values());
            database.execute("ALTER TABLE test_simple ADD COLUMN old integer");
        }

        List<String> work(String selection, String... commands) throws Exception {
            return new Dialogue(database).work(selection + settings(), commands);
        }

        /** Returns the query for the settings, as a protocol argument. */
        String settings() {
            return "";
        }

        private String create(String constraint) {
            return "CREATE TABLE test_simple ("
                    + database.columns()
                    + constraint
                    + ")"
                    + database.suffix();
        }

        private void createMixed() throws SQLException {
            database.execute("CREATE TABLE test_mixed (" + database.mixedColumns() + ")");
        }

        private void insertMixed(
                int id, int small, long big, BigDecimal amount, String name, LocalDateTime moment)
                throws SQLException {
            try (Connection connection = database.connect();
                    PreparedStatement insert =
                            connection.prepareStatement(
                                    "INSERT INTO test_mixed VALUES (?, ?, ?, ?, ?, ?, ?)")) {
                insert.setInt(1, id);
                insert.setInt(2, small);
                insert.setLong(3, big);
                insert.setBigDecimal(4, amount);
                insert.setString(5, name);
                insert.setNull(6, Types.INTEGER);
                if (database instanceof DatabaseFile) {
                    insert.setString(7, moment.toString().replace('T', ' '));
                } else {
                    insert.setObject(7, moment);
                }
                insert.executeUpdate();
            }
        }

        void fillTable() throws SQLException {
            var rows = new ArrayList<String>();
            for (long value : filled()) {
                rows.add("(" + value + ")");
            }
            database.execute("INSERT INTO test_simple (value) VALUES " + String.join(", ", rows));
        }

        private List<Long> values() throws SQLException {
            return database.column("SELECT value FROM test_simple ORDER BY id");
        }
    }

    /** Tests of servers, in addition to the tests of all databases. */
    abstract static class OnServer extends OnDatabase {

        /** Returns the number of prepared statements that the driver caches by default. */
        abstract int keptStatements();

        @AfterAll
        void drop() throws SQLException {
            if (database != null) { // It is null if its schema could not be created.
                ((TestServer) database).close();
            }
        }

        @Override
        String settings() {
            return " settings=" + encode("SELECT 'a b' AS first, NULL AS second_2, 3 AS third");
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "connect",
                    "select_1 statement=text",
                    "select_1 statement=prepared",
                    "insert_tx rows_tx=2",
                    "connections connections=2 rows=200"
                })
        void readsTheSettingsBack(String selection) throws Exception {
            fillTable();
            String opened = new Dialogue(database).answers(selection + settings()).get(0);
            boolean prepares =
                    !selection.equals("connect") && !selection.contains("statement=text");
            int kept = prepares ? keptStatements() : 0;
            assertEquals(
                    "@lab opened first=a%20b second_2= third=3 statement_cache=" + kept, opened);
        }

        @ParameterizedTest
        @ValueSource(strings = {"?host=/tmp&port=1", "?socket=/tmp/socket", "?a=b&host=%2Ftmp"})
        void hasNoUnixSockets(String parameters) throws Exception {
            String target = database.target().replaceAll("\\?.*", "") + parameters;
            String open = "open case=select_1 statement=text transport=unix seed=7";
            String reply =
                    Dialogue.replies(
                                    database.subject(),
                                    open + " target=" + encode(target) + settings())
                            .get(0);
            assertEquals(
                    "@lab error code=unsupported message=the%20driver%20does%20not%20support%20Unix%20sockets",
                    reply);
        }

        @Test
        void needsTheQueryForTheSettings() throws Exception {
            assertEquals(
                    "@lab error code=usage message=the%20argument%20settings%20is%20missing",
                    new Dialogue(database).answers("connect").get(0));
        }
    }

    // -- Expected values ---------------------------------------------------------------------------

    /** Returns the initial value in the row whose id is {@code id}. */
    private static long valueOf(int id) {
        return (1L << 30) - id;
    }

    private static List<Long> filled() {
        var values = new ArrayList<Long>();
        for (int id = 1; id <= ROWS; id++) {
            values.add(valueOf(id));
        }
        return values;
    }

    private static List<Long> valuesTwice(int count) {
        var values = new ArrayList<>(Expected.values(count));
        values.addAll(Expected.values(count));
        return values;
    }

    private static long sum(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).sum();
    }
}
