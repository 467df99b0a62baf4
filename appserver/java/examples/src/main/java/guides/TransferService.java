// SPDX-License-Identifier: Apache-2.0
package guides;

import benchlab.appserver.retry.IdempotencyTable;
import benchlab.appserver.retry.KeyReusedException;
import benchlab.appserver.retry.Policy;
import benchlab.appserver.retry.Retry;
import benchlab.appserver.retry.Transactions;
import com.sun.net.httpserver.HttpExchange;
import guides.Serving.Response;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.sqlite.SQLiteDataSource;
import org.sqlite.SQLiteErrorCode;

/** Transfers that take effect exactly once: {@code TransferService PORT FILE}. */
final class TransferService {

    private static final Pattern TRANSFER =
            Pattern.compile("from=([1-3])&to=([1-3])&amount=([0-9]{1,3})");

    private static final String CHANGE = "UPDATE account SET balance = balance + ? WHERE id = ?";

    private final Policy policy = Policy.ofAttempts(5).deadline(Duration.ofSeconds(20));
    private final IdempotencyTable keys = new IdempotencyTable("retry_key");
    private final Transactions transactions;
    private final DataSource database;

    TransferService(DataSource database) {
        this.database = database;
        transactions = new Transactions(database::getConnection);
    }

    private Response transfer(String key, String request, Matcher parameters) throws SQLException {
        int from = Integer.parseInt(parameters.group(1));
        int to = Integer.parseInt(parameters.group(2));
        int amount = Integer.parseInt(parameters.group(3));
        try {
            // The work runs in a transaction, which also stores the key and the result.
            String result =
                    Retry.call(
                            policy,
                            transactions,
                            keys.key(key).request(request),
                            connection -> {
                                try (var update = connection.prepareStatement(CHANGE)) {
                                    update.setInt(1, -amount);
                                    update.setInt(2, from);
                                    update.executeUpdate();
                                    update.setInt(1, amount);
                                    update.setInt(2, to);
                                    update.executeUpdate();
                                    return "done";
                                }
                            });
            return new Response(200, Map.of("transfer", result));
        } catch (KeyReusedException e) {
            return new Response(422, "the key belongs to another transfer");
        } catch (SQLException e) {
            if (e.getErrorCode() == SQLiteErrorCode.SQLITE_CONSTRAINT_CHECK.code
                    || e.getErrorCode() == SQLiteErrorCode.SQLITE_CONSTRAINT.code) {
                return new Response(409, "the balance does not cover the transfer");
            }
            throw e;
        }
    }

    private Response show() throws SQLException {
        try (var connection = database.getConnection();
                var statement = connection.createStatement()) {
            var row = statement.executeQuery("SELECT balance FROM account ORDER BY id");
            List<Long> balances = new ArrayList<>();
            while (row.next()) {
                balances.add(row.getLong(1));
            }
            return new Response(200, Map.of("balances", balances));
        }
    }

    private Response respond(String request, HttpExchange exchange) throws SQLException {
        if (request.equals("GET /accounts")) {
            return show();
        } else if (!request.equals("POST /transfers")) {
            return new Response(404, "no such page");
        }
        String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
        if (key == null || key.length() < 16 || key.length() > 100) {
            return new Response(400, "Idempotency-Key must have 16 to 100 characters");
        }
        String query = String.valueOf(exchange.getRequestURI().getQuery());
        Matcher parameters = TRANSFER.matcher(query);
        return parameters.matches()
                ? transfer(key, query, parameters)
                : new Response(400, "a parameter is missing or invalid");
    }

    public static void main(String[] arguments) throws Exception {
        var database = new SQLiteDataSource();
        database.setUrl("jdbc:sqlite:" + arguments[1] + "?busy_timeout=10000");
        try (var connection = database.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(
                    "CREATE TABLE IF NOT EXISTS account"
                            + " (id integer PRIMARY KEY, balance integer CHECK (balance >= 0))");
            statement.execute(
                    "CREATE TABLE IF NOT EXISTS retry_key (id text PRIMARY KEY, result text,"
                            + " request text, created timestamp DEFAULT CURRENT_TIMESTAMP)");
            statement.execute(
                    "INSERT INTO account VALUES (1, 1000), (2, 1000), (3, 1000)"
                            + " ON CONFLICT DO NOTHING");
        }
        Serving.serve(arguments[0], new TransferService(database)::respond);
    }
}
