// SPDX-License-Identifier: Apache-2.0
package guides;

import benchlab.appserver.pool.Pool;
import benchlab.appserver.pool.PoolOptions;
import com.sun.net.httpserver.HttpExchange;
import guides.Serving.Response;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Map;

/** A REST service with PostgreSQL: {@code RestService PORT JDBC_URL}. */
record RestService(Pool<Connection> database) {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private Response show(int id) throws Exception {
        String text = "SELECT name FROM guide_article WHERE id = ?";
        try (var lease = database.lease(TIMEOUT);
                var select = lease.resource().prepareStatement(text)) {
            select.setInt(1, id);
            var row = select.executeQuery();
            return row.next()
                    ? new Response(200, Map.of("name", row.getString(1)))
                    : new Response(404, "no such article");
        }
    }

    private Response add(String name) throws Exception {
        String text =
                "INSERT INTO guide_article (name) VALUES (?) ON CONFLICT DO NOTHING RETURNING id";
        try (var lease = database.lease(TIMEOUT);
                var insert = lease.resource().prepareStatement(text)) {
            insert.setString(1, name);
            var row = insert.executeQuery();
            return row.next()
                    ? new Response(201, Map.of("id", row.getInt(1)))
                    : new Response(409, "an article with that name exists");
        }
    }

    private Response respond(String request, HttpExchange exchange) throws Exception {
        if (request.matches("GET /articles/[0-9]{1,9}")) {
            return show(Integer.parseInt(request.substring("GET /articles/".length())));
        } else if (request.equals("POST /articles")) {
            byte[] content = exchange.getRequestBody().readNBytes(1_000);
            String name = Serving.JSON.readTree(content).path("name").asText();
            return name.matches("[^\0]{1,100}") ? add(name) : new Response(400, "invalid name");
        }
        return new Response(404, "no such page");
    }

    public static void main(String[] arguments) throws Exception {
        var options =
                PoolOptions.of(() -> DriverManager.getConnection(arguments[1]))
                        .validate(connection -> connection.isValid(1)) // A lost one is replaced.
                        .destroy(Connection::close)
                        .maxLifetime(Duration.ofMinutes(30));
        Serving.serve(arguments[0], new RestService(new Pool<>(4, options))::respond);
    }
}
