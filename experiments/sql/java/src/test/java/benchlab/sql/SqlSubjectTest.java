// SPDX-License-Identifier: Apache-2.0
// Protects the cases: what each does to a database and answers, against values computed here.
package benchlab.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.kit.Lab;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SqlSubjectTest {
    private static final String CREATE =
            "CREATE TABLE test_simple (id integer primary key autoincrement, value integer)";
    private static final int ROWS = 200;

    @TempDir private Path folder;
    private DatabaseFile file;

    @BeforeEach
    void createTable() throws SQLException {
        file = new DatabaseFile(folder.resolve("test.db"));
        file.execute(CREATE);
    }

    @Test
    void saysWhatItIs() throws Exception {
        String hello = transcript().get(0);
        assertTrue(hello.contains(" subject=java-test "), hello);
        assertTrue(hello.matches(".* library=sqlite-jdbc%20[0-9.]+"), hello);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "connect",
                "select_1 statement=prepared",
                "select limit=1 statement=text",
                "insert_tx rows_tx=2",
                "drop_create"
            })
    void readsTheSettingsBack(String selection) throws Exception {
        String opened = answers(selection).get(0);
        assertTrue(
                opened.matches(
                        "@lab opened version=3\\.[0-9.]+ source_id=20[0-9-]{8}%20[0-9:]{8}%20[0-9a-f]+"
                                + "(alt[12])? journal_mode=delete synchronous=2 encoding=UTF-8"
                                + " page_size=4096 cache_size=-2000 secure_delete=[012] autocommit=1"),
                opened);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"connect", "select_1 statement=prepared", "select_1 statement=text"})
    void fetchesOne(String selection) throws Exception {
        assertEquals(
                List.of(verified(1, 1, 1), verified(5, 5, 5), "@lab closed"),
                work(selection, "verify", "verify operations=5", "close"));
    }

    @ParameterizedTest
    @CsvSource({"prepared, 1", "prepared, 10", "prepared, 200", "text, 1", "text, 10", "text, 200"})
    void selectsRows(String statement, int limit) throws Exception {
        fillTable();
        long sum = 0;
        for (int id = 1; id <= limit; id++) {
            sum += id + valueOf(id);
        }
        assertEquals(
                List.of(verified(1, limit, sum), verified(3, 3 * limit, 3 * sum)),
                work(
                        "select limit=" + limit + " statement=" + statement,
                        "verify",
                        "verify operations=3"));
    }

    @Test
    void countsTheRowsThatThereAre() throws Exception {
        fillTable();
        String answer = work("select limit=1000 statement=prepared", "verify").get(0);
        assertTrue(answer.contains(" units=200 "), answer);
    }

    @Test
    void pointsAtRows() throws Exception {
        fillTable();
        long sum = 0;
        for (int k = 0; k < 20; k++) {
            sum += valueOf(Expected.id(k, ROWS));
        }
        String selection = "point rows=" + ROWS;
        assertEquals(
                List.of(verified(20, 20, sum), verified(20, 20, sum)),
                work(selection, "verify operations=20", "verify operations=20"));
    }

    @Test
    void failsWhereARowIsMissing() throws Exception {
        assertEquals(
                List.of("@lab error code=failed message=the%20query%20gave%20no%20row", "@lab closed"),
                work("point rows=200", "verify", "close"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"prepared", "text"})
    void insertsRowsEachInATransaction(String statement) throws Exception {
        long before = file.changes();
        long sum = sum(Expected.values(5));
        assertEquals(
                List.of(verified(5, 5, sum), verified(5, 5, sum)),
                work("insert statement=" + statement, "verify operations=5", "verify operations=5"));
        assertEquals(valuesTwice(5), file.column("SELECT value FROM test_simple ORDER BY id"));
        assertEquals(10, file.changes() - before);
    }

    @Test
    void insertsRowsInTransactions() throws Exception {
        long before = file.changes();
        long sum = sum(Expected.values(12));
        assertEquals(
                List.of(verified(3, 12, sum), verified(3, 12, sum)),
                work("insert_tx rows_tx=4", "verify operations=3", "verify operations=3"));
        assertEquals(valuesTwice(12), file.column("SELECT value FROM test_simple ORDER BY id"));
        assertEquals(6, file.changes() - before);
    }

    @Test
    void rollsAFailedTransactionBack() throws Exception {
        file.execute(
                "CREATE TRIGGER refuse BEFORE INSERT ON test_simple WHEN new.value = "
                        + Expected.value(5)
                        + " BEGIN SELECT RAISE(ABORT, 'not this one'); END");
        List<String> replies =
                work("insert_tx rows_tx=4", "verify operations=2", "verify", "close");
        assertTrue(replies.get(0).startsWith("@lab error code=failed message="), replies.get(0));
        assertTrue(replies.get(0).contains("not%20this%20one"), replies.get(0));
        assertEquals(verified(1, 4, sum(Expected.values(4))), replies.get(1));
        assertEquals(8, file.column("SELECT value FROM test_simple").size());
    }

    @Test
    void dropsAndCreatesTheTable() throws Exception {
        fillTable();
        long before = file.changes();
        assertEquals(List.of(verified(3, 3, 3)), work("drop_create", "verify operations=3"));
        assertEquals(6, file.changes() - before);
        assertEquals(List.of(), file.column("SELECT value FROM test_simple"));
        assertEquals(
                List.of(1L), file.column("SELECT count(*) FROM sqlite_master WHERE sql = '" + CREATE + "'"));
    }

    @ParameterizedTest
    @CsvSource({
        "other, unsupported",
        "select_1 statement=cached, unsupported",
        "select_1, usage",
        "select statement=text, usage",
        "select statement=text limit=0, usage",
        "insert_tx rows_tx=x, usage",
        "point, usage"
    })
    void refusesWhatItDoesNotKnow(String selection, String code) throws Exception {
        String reply = answers(selection).get(0);
        assertTrue(reply.startsWith("@lab error code=" + code + " message="), reply);
    }

    @Test
    void refusesATargetThatIsNotSqlite() throws Exception {
        assertEquals(
                List.of(
                        "@lab error code=unsupported"
                                + " message=the%20target%20is%20not%20sqlite:PATH",
                        "@lab error code=usage message=the%20argument%20target%20is%20missing"),
                transcript("open case=connect seed=7 target=pg:x", "open case=connect seed=7")
                        .subList(1, 3));
    }

    /** The library's own words reach the lab, and the next case finds the subject as it was. */
    @Test
    void failsToOpenWithoutTheTable() throws Exception {
        file.execute("DROP TABLE test_simple");
        String open = "open seed=7 target=sqlite:" + file.path() + " case=";
        List<String> replies =
                transcript(open + "insert statement=prepared", open + "select_1 statement=text");
        assertTrue(replies.get(1).startsWith("@lab error code=failed message="), replies.get(1));
        assertTrue(replies.get(1).contains("no%20such%20table"), replies.get(1));
        assertTrue(replies.get(2).startsWith("@lab opened version="), replies.get(2));
    }

    @Test
    void failsToOpenAFileThatIsNotThere() throws Exception {
        Path missing = folder.resolve("missing.db");
        String reply = transcript("open case=connect seed=7 target=sqlite:" + missing).get(1);
        assertTrue(reply.startsWith("@lab error code=failed message="), reply);
        assertFalse(Files.exists(missing));
    }

    @Test
    void leavesNoFileOpen() throws Exception {
        answers("insert statement=prepared", "verify", "close");
        answers("insert statement=unknown");
        assertFalse(file.isOpen());
    }

    // -- The subject, driven over the protocol ---------------------------------------------------

    private static List<String> transcript(String... commands) throws Exception {
        var replies = new ByteArrayOutputStream();
        byte[] input = (String.join("\n", commands) + "\n").getBytes(StandardCharsets.US_ASCII);
        Lab.serve(new SqlSubject("java-test"), new ByteArrayInputStream(input), replies);
        return replies.toString(StandardCharsets.US_ASCII).lines().toList();
    }

    /** The replies to opening the case on the test's file, and to the commands that follow. */
    private List<String> answers(String selection, String... commands) throws Exception {
        var all = new ArrayList<String>();
        all.add("open case=" + selection + " seed=7 target=sqlite:" + file.path());
        all.addAll(List.of(commands));
        List<String> replies = transcript(all.toArray(String[]::new));
        return replies.subList(1, replies.size());
    }

    private List<String> work(String selection, String... commands) throws Exception {
        List<String> replies = answers(selection, commands);
        assertTrue(replies.get(0).startsWith("@lab opened "), replies.get(0));
        return replies.subList(1, replies.size());
    }

    private static String verified(long operations, long units, long check) {
        return "@lab verified operations=" + operations + " units=" + units + " check=" + check;
    }

    // -- What should come out ----------------------------------------------------------------------

    private static List<Long> valuesTwice(int count) {
        var values = new ArrayList<>(Expected.values(count));
        values.addAll(Expected.values(count));
        return values;
    }

    private static long sum(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).sum();
    }

    /** The value in the row of a filled table, up to the largest that the lab writes. */
    private static long valueOf(int id) {
        return (1L << 31) - id;
    }

    private void fillTable() throws SQLException {
        var rows = new ArrayList<String>();
        for (int id = 1; id <= ROWS; id++) {
            rows.add("(" + valueOf(id) + ")");
        }
        file.execute("INSERT INTO test_simple (value) VALUES " + String.join(", ", rows));
    }
}
