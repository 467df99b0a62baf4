// SPDX-License-Identifier: Apache-2.0
package guides;

import benchlab.appserver.monitor.Monitor;
import benchlab.appserver.monitor.MonitorTexts;
import benchlab.appserver.monitor.MonitoredDataSource;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import guides.Serving.Response;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;
import org.sqlite.SQLiteDataSource;

/** Monitors the cost of each page: {@code PageCosts PORT}. The metrics have a separate port. */
final class PageCosts {

    private static final String SUM =
            "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 10000)"
                    + " SELECT sum(i) FROM n";

    private final Monitor monitor = new Monitor();
    private final DataSource database;

    private PageCosts(DataSource database) {
        this.database = new MonitoredDataSource(database, monitor); // Records the queries.
    }

    private Response article(int id) throws SQLException {
        try (var connection = database.getConnection();
                var select = connection.prepareStatement("SELECT 2 * ?")) {
            select.setInt(1, id);
            return new Response(200, Map.of("double", select.executeQuery().getInt(1)));
        }
    }

    private Response sum() throws SQLException {
        try (var connection = database.getConnection();
                var statement = connection.createStatement()) {
            return new Response(200, Map.of("sum", statement.executeQuery(SUM).getInt(1)));
        }
    }

    private Response respond(String request) throws SQLException {
        if (request.matches("GET /articles/[0-9]{1,4}")) {
            return article(Integer.parseInt(request.substring("GET /articles/".length())));
        }
        return request.equals("GET /sum") ? sum() : new Response(404, "no such page");
    }

    /** Records a request while it is served. In a servlet container, MonitorFilter does this. */
    private Response monitored(String request, HttpExchange exchange) throws SQLException {
        String path = exchange.getRequestURI().getPath();
        monitor.begin(exchange.getRequestMethod(), path);
        int status = 500;
        try {
            Response response = respond(request);
            status = response.status();
            return response;
        } finally {
            monitor.end(status, path);
        }
    }

    private int serveMetrics() throws Exception {
        var loopback = InetAddress.getLoopbackAddress();
        var server = HttpServer.create(new InetSocketAddress(loopback, 0), 0);
        server.createContext(
                "/monitor",
                exchange -> {
                    try (exchange) {
                        boolean isJson = exchange.getRequestURI().getPath().endsWith("/json");
                        String text =
                                isJson
                                        ? MonitorTexts.json(monitor, "shop")
                                        : MonitorTexts.html(monitor, "shop");
                        byte[] content = text.getBytes(StandardCharsets.UTF_8);
                        exchange.getResponseHeaders()
                                .set("Content-Type", isJson ? "application/json" : "text/html");
                        exchange.sendResponseHeaders(200, content.length);
                        exchange.getResponseBody().write(content);
                    }
                });
        server.start();
        return server.getAddress().getPort();
    }

    public static void main(String[] arguments) throws Exception {
        var database = new SQLiteDataSource();
        database.setUrl("jdbc:sqlite::memory:");
        var pages = new PageCosts(database);
        System.out.println("http://127.0.0.1:" + pages.serveMetrics() + "/monitor");
        Serving.serve(arguments[0], pages::monitored);
    }
}
