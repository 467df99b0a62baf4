// SPDX-License-Identifier: Apache-2.0
package guides;

import benchlab.appserver.cache.Cache;
import benchlab.appserver.cache.CacheOptions;
import benchlab.appserver.cache.ConcurrentCache;
import benchlab.appserver.cache.LoadException;
import benchlab.appserver.counter.AtomicCounter;
import com.sun.net.httpserver.HttpExchange;
import guides.Serving.Response;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.sqlite.SQLiteDataSource;

/** A cache in front of a query: {@code CachedQuery PORT FILE}. */
final class CachedQuery {

    private static final Pattern REQUEST = Pattern.compile("(GET|PUT) /prices/([0-9]{1,5})");
    private static final Pattern AMOUNT = Pattern.compile("cents=([0-9]{1,9})");

    private final Cache<Integer, Long> prices =
            new ConcurrentCache<>(
                    CacheOptions.UNLIMITED.maximumSize(1_000).timeToLive(Duration.ofMinutes(1)));
    private final AtomicCounter queries = new AtomicCounter();
    private final DataSource database;

    CachedQuery(DataSource database) {
        this.database = database;
    }

    /** Queries the price of an article. Called only for articles that are not in the cache. */
    private Long load(Integer id) throws SQLException {
        queries.increment();
        try (var connection = database.getConnection();
                var select = connection.prepareStatement("SELECT cents FROM price WHERE id = ?")) {
            select.setInt(1, id);
            var row = select.executeQuery();
            if (!row.next()) {
                throw new NoSuchElementException();
            }
            return row.getLong(1);
        }
    }

    private Response show(int id) {
        try {
            return new Response(200, Map.of("cents", prices.get(id, this::load)));
        } catch (LoadException e) {
            if (e.getCause() instanceof NoSuchElementException) {
                return new Response(404, "no such article");
            }
            throw e;
        }
    }

    /** Changes the database first, and then removes the old value. */
    private Response change(int id, long cents) throws SQLException {
        String upsert =
                "INSERT INTO price VALUES (?1, ?2) ON CONFLICT DO UPDATE SET cents = ?2";
        try (var connection = database.getConnection();
                var statement = connection.prepareStatement(upsert)) {
            statement.setInt(1, id);
            statement.setLong(2, cents);
            statement.executeUpdate();
        }
        prices.remove(id);
        return new Response(200, Map.of("cents", cents));
    }

    private Response respond(String request, HttpExchange exchange) throws SQLException {
        if (request.equals("GET /queries")) {
            return new Response(200, Map.of("queries", queries.value()));
        }
        Matcher matcher = REQUEST.matcher(request);
        if (!matcher.matches()) {
            return new Response(404, "no such page");
        }
        int id = Integer.parseInt(matcher.group(2));
        if (matcher.group(1).equals("GET")) {
            return show(id);
        }
        Matcher amount = AMOUNT.matcher(String.valueOf(exchange.getRequestURI().getQuery()));
        return amount.matches()
                ? change(id, Long.parseLong(amount.group(1)))
                : new Response(400, "the parameter cents is missing or invalid");
    }

    public static void main(String[] arguments) throws Exception {
        var database = new SQLiteDataSource();
        database.setUrl("jdbc:sqlite:" + arguments[1] + "?busy_timeout=10000");
        try (var connection = database.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(
                    "CREATE TABLE IF NOT EXISTS price (id integer PRIMARY KEY, cents integer)");
        }
        Serving.serve(arguments[0], new CachedQuery(database)::respond);
    }
}
