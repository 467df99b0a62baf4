// SPDX-License-Identifier: Apache-2.0
// Tests names, counts and metrics.
package benchlab.appserver.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sqlite.SQLiteDataSource;

class MonitorTest {

    @ParameterizedTest
    @CsvSource({
        "/, /",
        "/users/123, /users/{id}",
        "/users/123/orders/7-8, /users/{id}/orders/{id}",
        "/api/v2/page1, /api/v2/page1",
        "/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/x, /{id}/x",
        "/decade/deadbeef, /decade/deadbeef",
        "/a/deadbee5, /a/{id}",
        "/2026-05-01, /{id}",
        "//x//, //x//",
        "/token/Zm9vYmFyMTIzNDU2Nzg5, /token/{id}",
        "/cart;jsessionid=12, /cart"
    })
    void foldsPaths(String path, String route) {
        var name = new Folding.PageName();
        name.setRoute("GET", path);
        assertEquals("GET " + route, new String(name.text, 0, name.length));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "SELECT a1 FROM t2 WHERE id = 7 | SELECT a1 FROM t2 WHERE id = ?",
                "SELECT 'it''s', \"a'b\", 1.5e3 | SELECT ?, \"a'b\", ?",
                "WHERE id IN (1,2,  3) | WHERE id IN (?, ...)",
                "WHERE id IN (?, ?) | WHERE id IN (?, ...)",
                "WHERE id = $1 AND n = :name AND x::text = 'y' | WHERE id = ? AND n = ? AND x::text = ?",
                "SELECT 'open | SELECT ?",
                "SELECT /* open | SELECT",
                "SELECT E'a\\'b', e'it''s\\\\', 'c\\', x | SELECT ?, ..., x",
                "SELECT $$it's$$, $tag$ $$ 'b' $tag$ + c | SELECT ?, ... + c",
                "SELECT $$open | SELECT ?",
                "SELECT a$b$c FROM t$1 # 'x' | SELECT a$b$c FROM t$1 # ?",
                "SELECT \"a\\\", 'b' | SELECT \"a\\\", ?",
                "SELECT \"a\"\"b'\", 'c' | SELECT \"a\"\"b'\", ?"
            })
    void foldsQueries(String text, String name) {
        check(text, name, TextRules.STANDARD);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "WHERE name = 'it\\'s secret' AND x | WHERE name = ? AND x",
                "WHERE token = \"ab\\\"c\" AND `d\\` | WHERE token = ? AND `d\\`",
                "SELECT 'open\\ | SELECT ?",
                "SELECT \"it\"\"s\", 'it''s' | SELECT ?, ..."
            })
    void foldsQueriesOfMariaDb(String text, String name) {
        check(text, name, TextRules.MARIADB);
    }

    @Test
    void foldsLines() {
        check("SELECT E'a' \n 'b\\'c' || d", "SELECT ? || d", TextRules.STANDARD);
        check(
                "SELECT a # don't\nFROM t WHERE b = 'c'",
                "SELECT a FROM t WHERE b = ?",
                TextRules.MARIADB);
    }

    @Test
    void aBackslashInANameIsNoEscape() {
        check("SELECT \"a\\\", 'b\\'c'", "SELECT \"a\\\", ?", new TextRules(true, false, false));
    }

    private static void check(String text, String name, TextRules rules) {
        assertEquals(name, Folding.query(text, rules));
        assertEquals(name, Folding.query(name, rules), "a name maps to itself");
    }

    @Test
    void leavesOutComments() {
        check("SELECT\n 1 -- one\n/* two */ ;", "SELECT ?", TextRules.STANDARD);
        check("SELECT 1 /*/ 'a' */", "SELECT ?", TextRules.STANDARD);
        assertEquals(500, Folding.query("x".repeat(5_000), TextRules.STANDARD).length());
    }

    @Test
    void countsPagesAndTheirQueries() {
        var monitor = new Monitor(3, 2, 5);
        for (int k = 1; k <= 3; k++) {
            monitor.begin("GET", "/users/" + k);
            for (int n = 0; n < 100; n++) {
                monitor.record(monitor.query("SELECT " + n), 1_000, n == 7);
            }
            monitor.end(k == 3 ? 503 : 200, "/users/" + k);
        }
        monitor.begin("GET", "/missing");
        monitor.end(404, "/missing");
        Statistics users = monitor.statistics("GET /users/{id}");
        assertEquals(3, users.count());
        assertEquals(1, users.errors());
        Statistics query = monitor.statistics("GET /users/{id}", "SELECT ?");
        assertEquals(300, query.count());
        assertEquals(3, query.errors());
        assertEquals(Duration.ofNanos(300_000), query.totalTime());
        assertEquals(0, monitor.statistics("GET /missing").count());
        assertEquals(1, monitor.statistics(Monitor.OTHER).clientErrors());
    }

    @Test
    void hasSoManyNamesAndNoMore() {
        var monitor = new Monitor(2, 2, 1);
        for (String page : "a b c d".split(" ")) {
            monitor.begin("GET", "/" + page);
            for (String table : "x y z".split(" ")) {
                monitor.record(monitor.query("SELECT * FROM " + table), 1, false);
            }
            monitor.end(200, "/" + page);
        }
        assertEquals(1, monitor.statistics("GET /b").count());
        assertEquals(2, monitor.statistics(Monitor.OTHER).count());
        assertEquals(1, monitor.statistics("GET /a", "SELECT * FROM y").count());
        assertEquals(3, monitor.statistics("GET /b", Monitor.OTHER).count());
        assertEquals(6, monitor.statistics(Monitor.OTHER, Monitor.OTHER).count());
    }

    /** Checks that a client cannot use up the names with methods or paths that do not exist. */
    @Test
    void clientsAddNoPages() throws Exception {
        var monitor = new Monitor(2, 2, 1);
        Query query = monitor.query("SELECT 1");
        for (int status : new int[] {200, 404, 501, 505}) {
            for (String method : "M1 M2 OPTIONS TRACE get".split(" ")) {
                monitor.begin(method, "/" + status);
                for (int k = 0; k < 100; k++) {
                    monitor.record(query, 1, false);
                }
                monitor.end(status, "/" + status);
            }
        }
        monitor.begin("GET", "/missing");
        monitor.end(501, "/missing");
        monitor.begin("OPTIONS", "/missing");
        DetachedRequest detached = monitor.detach();
        detached.end(200, "/missing");
        monitor.begin("GET", "/a");
        monitor.end(200, "/a");
        monitor.begin("OPTIONS", "/b");
        Monitor.page("OPTIONS /{file}");
        monitor.end(200, "/b");
        assertEquals(1, monitor.statistics("GET /a").count());
        assertEquals(1, monitor.statistics("OPTIONS /{file}").count());
        assertEquals(22, monitor.statistics(Monitor.OTHER).count());
        assertEquals(2_000, monitor.statistics(Monitor.OTHER, "SELECT ?").count());
    }

    @Test
    void namesAPageByItself() {
        var monitor = new Monitor();
        monitor.begin("GET", "/articles/wheel");
        Monitor.page("GET /articles/{slug}");
        monitor.end(200, "/articles/wheel");
        assertEquals(1, monitor.statistics("GET /articles/{slug}").count());
        assertThrows(IllegalStateException.class, () -> monitor.end(200, "/"));
    }

    /** Checks that CPU time is measured per thread: a request that only waits uses little. */
    @Test
    void tellsWorkFromWaiting() throws Exception {
        var monitor = new Monitor();
        var threads = ManagementFactory.getThreadMXBean();
        for (int k = 0; k < 3; k++) {
            monitor.begin("GET", "/works");
            long end = threads.getCurrentThreadCpuTime() + 20_000_000;
            while (threads.getCurrentThreadCpuTime() < end) {
                Thread.onSpinWait();
            }
            monitor.end(200, "/works");
            monitor.begin("GET", "/waits");
            Thread.sleep(20);
            monitor.end(200, "/waits");
        }
        Duration works = monitor.statistics("GET /works").cpuTime();
        assertTrue(works.compareTo(monitor.statistics("GET /waits").cpuTime()) > 0);
        Duration waits = monitor.statistics("GET /waits").totalTime();
        assertTrue(waits.compareTo(Duration.ofMillis(60)) >= 0);
    }

    @Test
    void takesNoMemory() {
        var monitor = new Monitor();
        Query query = monitor.query("SELECT 1");
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long least = Long.MAX_VALUE;
        long rounds = 0;
        // The first rounds compile the code, which is slow on a busy machine, and fill the list of slowest requests.
        // The measurement itself allocates a little.
        for (long end = System.nanoTime() + 120_000_000_000L; least >= 1_000 && System.nanoTime() < end; rounds++) {
            long before = threads.getThreadAllocatedBytes(thread);
            for (int k = 0; k < 10_000; k++) {
                monitor.begin("GET", "/users/7");
                monitor.record(query, 1_000, false);
                monitor.end(200, "/users/7");
            }
            least = Math.min(least, threads.getThreadAllocatedBytes(thread) - before);
        }
        assertTrue(least < 1_000, "bytes for 10,000 requests: " + least);
        assertEquals(10_000 * rounds, monitor.statistics("GET /users/{id}").count());
    }

    @Test
    void countsStatementsOfConnections() throws Exception {
        var inner = new SQLiteDataSource();
        inner.setUrl("jdbc:sqlite::memory:");
        var monitor = new Monitor();
        var database = new MonitoredDataSource(inner, monitor);
        try (var connection = database.getConnection()) {
            connection.setAutoCommit(false);
            try (var statement = connection.createStatement()) {
                statement.execute("CREATE TABLE item (id integer UNIQUE)");
                statement.addBatch("INSERT INTO item VALUES (2)");
                statement.addBatch("INSERT INTO item VALUES (3)");
                statement.executeBatch();
                assertEquals(connection, statement.getConnection());
            }
            try (var insert = connection.prepareStatement("INSERT INTO item VALUES (?)")) {
                insert.setInt(1, 1);
                insert.executeUpdate();
                assertThrows(SQLException.class, insert::executeUpdate);
            }
            connection.commit();
            assertTrue(connection.isWrapperFor(org.sqlite.SQLiteConnection.class));
            assertTrue(connection.unwrap(org.sqlite.SQLiteConnection.class).isValid(1));
        }
        String insert = "INSERT INTO item VALUES (?)";
        assertEquals(3, monitor.statistics(Monitor.NO_REQUEST, insert).count());
        assertEquals(1, monitor.statistics(Monitor.NO_REQUEST, insert).errors());
        assertEquals(1, monitor.statistics(Monitor.NO_REQUEST, "COMMIT").count());
        assertEquals(5, monitor.statistics(Monitor.NO_REQUEST).count());
    }

    @Test
    void countsEachBatchForItsOwnStatement() throws Exception {
        var inner = new SQLiteDataSource();
        inner.setUrl("jdbc:sqlite::memory:");
        var monitor = new Monitor();
        var database = new MonitoredDataSource(inner, monitor);
        try (var connection = database.getConnection();
                var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE item (id integer UNIQUE)");
            for (String verb : List.of("INSERT", "REPLACE")) {
                statement.addBatch(verb + " INTO item VALUES (2)");
                statement.addBatch("DELETE FROM item");
                statement.executeBatch();
            }
            statement.addBatch("ALTER TABLE none RENAME TO item");
            assertThrows(SQLException.class, statement::executeBatch);
            statement.addBatch("UPDATE item SET id = 4");
            statement.executeLargeBatch();
            statement.addBatch("DROP TABLE item");
            statement.clearBatch();
            statement.executeBatch();
        }
        var expected =
                List.of(
                        "INSERT INTO item VALUES (?)",
                        "REPLACE INTO item VALUES (?)",
                        "ALTER TABLE none RENAME TO item",
                        "UPDATE item SET id = ?",
                        Monitor.OTHER);
        for (String query : expected) {
            assertEquals(1, monitor.statistics(Monitor.NO_REQUEST, query).count(), query);
        }
        assertEquals(6, monitor.statistics(Monitor.NO_REQUEST).count());
    }

    @Test
    void escapesNames() {
        var monitor = new Monitor();
        monitor.begin("GET", "/");
        Monitor.page("</script>\"\\\n\u2603");
        monitor.end(200, "/");
        String json = MonitorTexts.json(monitor, "a \"shop\"");
        assertTrue(json.contains("\"name\":\"</script>\\\"\\\\\\u000a\u2603\""), json);
        assertTrue(json.contains("\"application\":\"a \\\"shop\\\"\""), json);
        assertTrue(MonitorTexts.html(monitor, "").contains("\"\\u003c/script>"));
        assertTrue(
                MonitorTexts.prometheus(monitor)
                        .contains("_count{page=\"</script>\\\"\\\\\\n\u2603\"} 1\n"));
    }
}
