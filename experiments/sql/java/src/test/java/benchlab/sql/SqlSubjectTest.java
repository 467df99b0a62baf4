// SPDX-License-Identifier: Apache-2.0
// Tests what is specific to the subject: its driver, its errors, and what remains of SQLite's files.
package benchlab.sql;

import static benchlab.sql.Dialogue.encode;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SqlSubjectTest {
    private static final String CREATE =
            "CREATE TABLE test_simple (id integer primary key autoincrement, value integer)";

    @TempDir private Path folder;
    private DatabaseFile file;
    private Dialogue dialogue;

    @BeforeEach
    void createTable() throws SQLException {
        file = new DatabaseFile(folder.resolve("test.db"));
        file.execute(CREATE);
        dialogue = new Dialogue(file);
    }

    @ParameterizedTest
    @CsvSource({
        "'', java, sqlite-jdbc%203",
        "java-system, java-system, sqlite-jdbc%203",
        "sqlite, java, sqlite-jdbc%203",
        "sqlite java-2, java-2, sqlite-jdbc%203",
        "postgresql, java, pgjdbc%2042",
        "mariadb, java, MariaDB%20Connector/J%203",
    })
    void saysWhatItIs(String arguments, String name, String library) throws Exception {
        String hello = output(List.of(), arguments, "quit").get(0);
        assertTrue(
                hello.matches("@lab hello .* subject=" + name + " .* library=" + library + "[0-9.]+"),
                hello);
    }

    @ParameterizedTest
    @CsvSource({
        "sqlite, org.sqlite, sqlite:/missing",
        "postgresql, org.postgresql, postgresql://u:p@127.0.0.1:1/d",
        "mariadb, org.mariadb, mariadb://u:p@127.0.0.1:1/d",
    })
    void loadsNoDriverButItsOwn(String name, String driver, String target) throws Exception {
        String open = "open case=connect seed=7 settings=x target=" + encode(target);
        List<String> drivers =
                output(List.of("-verbose:class"), name, open).stream()
                        .flatMap(line -> Stream.of(line.split(" ")))
                        .filter(word -> word.matches("org\\.(sqlite|postgresql|mariadb)\\..*"))
                        .toList();
        assertFalse(drivers.isEmpty());
        assertEquals(
                List.of(), drivers.stream().filter(type -> !type.startsWith(driver + ".")).toList());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "connect",
                "select_1 statement=prepared",
                "select limit=1 statement=text",
                "insert_tx rows_tx=2",
                "connections connections=2 rows=1",
                "drop_create table=x"
            })
    void readsTheSettingsBack(String selection) throws Exception {
        file.execute("INSERT INTO test_simple (value) VALUES (1)");
        String opened = dialogue.answers(selection).get(0);
        assertTrue(
                opened.matches(
                        "@lab opened version=3\\.[0-9.]+ source_id=20[0-9-]{8}%20[0-9:]{8}%20[0-9a-f]+"
                                + "(alt[12])? journal_mode=delete synchronous=2 encoding=UTF-8"
                                + " page_size=4096 cache_size=-2000 secure_delete=[012]"
                                + " threading=(serialized|multi-thread) statement_cache=0 autocommit=1"),
                opened);
    }

    /**
     * Tests transactions of one row, of multiple rows and of two statements, and a transaction for
     * each schema change.
     */
    @ParameterizedTest
    @CsvSource({
        "insert statement=prepared, 1",
        "insert statement=text, 1",
        "insert_tx rows_tx=4, 1",
        "update_point rows=1, 1",
        "transfer rows=1, 1",
        "drop_create, 2"
    })
    void commitsEachOperation(String selection, int transactions) throws Exception {
        file.execute("INSERT INTO test_simple (value) VALUES (1)");
        long before = file.changes();
        dialogue.work(selection + " table=" + encode(CREATE), "verify operations=3", "close");
        assertEquals(3 * transactions, file.changes() - before);
    }

    @ParameterizedTest
    @CsvSource({
        "other, unsupported",
        "select_1 statement=cached, unsupported",
        "do_1, unsupported",
        "select_1, usage",
        "select statement=text, usage",
        "select statement=text limit=0, usage",
        "insert_tx rows_tx=x, usage",
        "point statement=text, usage",
        "point rows=1, usage",
        "connections rows=1, usage",
        "drop_create, usage"
    })
    void refusesWhatItDoesNotKnow(String selection, String code) throws Exception {
        String reply = dialogue.answers(selection).get(0);
        assertTrue(reply.startsWith("@lab error code=" + code + " message="), reply);
    }

    @Test
    void refusesATargetThatIsNotSqlite() throws Exception {
        assertEquals(
                List.of(
                        "@lab error code=unsupported"
                                + " message=the%20target%20must%20be%20sqlite:PATH",
                        "@lab error code=usage message=the%20argument%20target%20is%20missing"),
                Dialogue.replies(
                        file.subject(),
                        "open case=connect seed=7 target=pg:x",
                        "open case=connect seed=7"));
    }

    /**
     * Checks that the library's own error message reaches benchlab, and that the next case finds
     * the subject unchanged.
     */
    @Test
    void failsToOpenWithoutTheTable() throws Exception {
        file.execute("DROP TABLE test_simple");
        for (String selection :
                List.of("insert statement=prepared", "connections connections=2 rows=1")) {
            String reply = dialogue.answers(selection).get(0);
            assertTrue(reply.startsWith("@lab error code=failed message="), reply);
            assertTrue(reply.contains("no%20such%20table"), reply);
            assertFalse(file.isOpen());
        }
        dialogue.work("select_1 statement=text");
    }

    @Test
    void failsToOpenAFileThatIsNotThere() throws Exception {
        var missing = new DatabaseFile(folder.resolve("missing.db"));
        String reply = new Dialogue(missing).answers("connect").get(0);
        assertTrue(reply.startsWith("@lab error code=failed message="), reply);
        assertFalse(Files.exists(missing.path()));
    }

    @Test
    void leavesNoFileOpen() throws Exception {
        file.execute("INSERT INTO test_simple (value) VALUES (1)");
        dialogue.work("insert statement=prepared", "verify", "close");
        dialogue.work("connections connections=3 rows=1", "verify", "close");
        dialogue.answers("insert statement=unknown");
        assertFalse(file.isOpen());
    }

    /**
     * Runs the subject with JVM options, its own arguments, and commands as input. Returns its
     * output.
     */
    private static List<String> output(List<String> options, String arguments, String told)
            throws Exception {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(SqlSubject.class.getName());
        Stream.of(arguments.split(" ")).filter(word -> !word.isEmpty()).forEach(command::add);
        Process process =
                new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        try (OutputStream commands = process.getOutputStream()) {
            commands.write(told.getBytes(StandardCharsets.US_ASCII));
        }
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor());
        return output.lines().toList();
    }
}
