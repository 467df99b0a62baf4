// SPDX-License-Identifier: Apache-2.0
// Checks that each container's requests are counted, however they end.
package benchlab.appserver.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.Filter;
import jakarta.servlet.Servlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sqlite.SQLiteDataSource;

abstract class ContainerTest {

    private static final String TOKEN = "0123456789abcdef+/";
    private static final String CREDENTIALS = "Bearer " + TOKEN;

    private final HttpClient client = HttpClient.newHttpClient();
    private int port;
    private long asked; // Requests that the monitor counts.

    /** Starts the container on a free port of this machine, with the filter before all servlets. */
    abstract int start(Filter filter, Map<String, Servlet> servlets) throws Exception;

    abstract void stop() throws Exception;

    @BeforeEach
    void serve() throws Exception {
        var pool = new SQLiteDataSource();
        pool.setUrl("jdbc:sqlite:file:" + getClass().getSimpleName() + "?mode=memory&cache=shared");
        var heldConnection = pool.getConnection();
        try (var statement = heldConnection.createStatement()) {
            statement.execute("DROP TABLE IF EXISTS article");
            statement.execute("CREATE TABLE article (id integer, name text)");
            statement.execute("INSERT INTO article VALUES (1, 'gear wheel'), (2, 'lever')");
        }
        this.heldConnection = heldConnection;
        var shop = new WatchedExample(pool, TOKEN);
        port =
                start(
                        shop.filter,
                        Map.of(
                                "/articles/*", shop.new Articles(),
                                "/broken", new Broken(),
                                "/named/*", new Named(),
                                "/later", new Later()));
    }

    private java.sql.Connection heldConnection;

    @AfterEach
    void end() throws Exception {
        stop();
        heldConnection.close();
    }

    @Test
    void countsRequestsAndQueries() throws Exception {
        for (int k = 0; k < 3; k++) {
            assertEquals("gear wheel", ask("/articles/1").body());
        }
        assertEquals("lever", ask("/articles/2?secret=1").body());
        assertEquals(404, ask("/articles/3").statusCode());
        assertEquals(404, ask("/nothing/here").statusCode());
        assertEquals(500, ask("/broken").statusCode());
        assertEquals(200, ask("/named/anything").statusCode());
        assertEquals("later", ask("/later").body());

        JsonNode statistics = statistics();
        assertEquals("shop", statistics.get("application").asText());
        JsonNode articles = page(statistics, "GET /articles/{id}");
        assertEquals(5, articles.get("count").asLong());
        assertEquals(1, articles.get("client_errors").asLong());
        assertEquals(0, articles.get("errors").asLong());
        long inHours = 0;
        for (JsonNode hour : articles.get("hours")) {
            inHours += hour.get(1).asLong();
        }
        assertEquals(5, inHours);
        JsonNode query = articles.get("queries").get(0);
        assertEquals("SELECT name FROM article WHERE id = ?", query.get("name").asText());
        assertEquals(5, query.get("count").asLong());
        assertTrue(articles.get("total_ns").asLong() >= query.get("total_ns").asLong());
        JsonNode slowest = articles.get("slowest").get(0);
        assertEquals(slowest.get("ns"), articles.get("max_ns"));
        assertTrue(slowest.get("path").asText().startsWith("/articles/"));
        assertEquals(1, slowest.get("queries").get(0).get("count").asLong());
        assertEquals(1, page(statistics, "GET /broken").get("errors").asLong());
        assertEquals(1, page(statistics, "GET /named/{name}").get("count").asLong());
        assertEquals(1, page(statistics, "(other)").get("client_errors").asLong());
        assertFalse(statistics.toString().contains("secret"));
    }

    /** An asynchronous request lasts until it completes, not until its servlet returns. */
    @Test
    void countsAsynchronousRequestsWhenTheyEnd() throws Exception {
        assertEquals("later", ask("/later").body());
        assertTrue(page(statistics(), "GET /later").get("total_ns").asLong() >= Later.NANOS);
    }

    @Test
    void showsTheMetricsInEachForm() throws Exception {
        ask("/articles/1");
        statistics();
        assertTrue(ask("/monitor", "Accept", "text/html").body().startsWith("<!doctype html>"));
        assertTrue(ask("/monitor/page").headers().firstValue("Content-Security-Policy").isPresent());
        String line = "appserver_monitor_page_seconds_count{page=\"GET /articles/{id}\"} 1\n";
        assertTrue(ask("/monitor/metrics").body().contains(line));
        assertTrue(ask("/monitor", "Accept", "text/plain;version=0.0.4").body().contains(line));
        assertEquals(404, ask("/monitors").statusCode());
    }

    /** A client on this machine may be a proxy that does not identify itself. */
    @Test
    void showsNothingWithoutTheToken() throws Exception {
        var basic =
                "Basic " + Base64.getEncoder().encodeToString(("monitor:" + TOKEN).getBytes());
        assertEquals(200, ask("/monitor", "Authorization", basic).statusCode());
        for (String wrong : new String[] {"none", "Bearer ", CREDENTIALS + "x", basic + "x"}) {
            var answer = ask("/monitor", "Authorization", wrong);
            assertEquals(401, answer.statusCode());
            assertTrue(answer.headers().firstValue("WWW-Authenticate").isPresent());
            assertFalse(answer.body().contains("bucket_width"));
        }
        var crossSite = ask("/monitor", "Sec-Fetch-Site", "cross-site");
        assertEquals(401, crossSite.statusCode());
    }

    /**
     * Returns the statistics of all requests so far. A response can arrive before the container has
     * ended its request.
     */
    private JsonNode statistics() throws Exception {
        for (long end = System.nanoTime() + 60_000_000_000L; ; Thread.sleep(10)) {
            JsonNode statistics = new ObjectMapper().readTree(ask("/monitor").body());
            long counted = 0;
            for (JsonNode page : statistics.get("pages")) {
                counted += page.get("count").asLong();
            }
            if (counted == asked) {
                return statistics;
            }
            assertTrue(System.nanoTime() < end, () -> asked + " requests, but " + statistics);
        }
    }

    private static JsonNode page(JsonNode statistics, String name) {
        for (JsonNode page : statistics.get("pages")) {
            if (page.get("name").asText().equals(name)) {
                return page;
            }
        }
        throw new AssertionError(name + " is not in " + statistics);
    }

    private HttpResponse<String> ask(String path, String... headers) throws Exception {
        var request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .timeout(Duration.ofSeconds(60));
        asked += path.equals("/monitor") || path.startsWith("/monitor/") ? 0 : 1;
        if (path.startsWith("/monitor") && !List.of(headers).contains("Authorization")) {
            request.header("Authorization", CREDENTIALS);
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static final class Broken extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) {
            throw new IllegalStateException("failing as requested");
        }
    }

    private static final class Named extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) {
            Monitor.page("GET /named/{name}");
        }
    }

    private static final class Later extends HttpServlet {
        private static final long serialVersionUID = 1;
        static final long NANOS = 200_000_000;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) {
            var work = request.startAsync();
            new Thread(
                            () -> {
                                try {
                                    Thread.sleep(NANOS / 1_000_000);
                                    response.getWriter().print("later");
                                } catch (Exception e) {
                                    throw new IllegalStateException(e);
                                } finally {
                                    work.complete();
                                }
                            })
                    .start();
        }
    }
}
