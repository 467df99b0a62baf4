// SPDX-License-Identifier: Apache-2.0
// A service in the same process that loses some of its responses.
package benchlab.retry;

import benchlab.appserver.retry.IdempotencyTable;
import benchlab.kit.Sequence;
import benchlab.sql.Database;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes the calls of the case {@code http}: each request is one transaction. After each hundredth
 * commit the connection is closed without a response. If a request has an idempotency key, the
 * service stores it in the transaction.
 */
final class HttpService implements AutoCloseable {

    private static final int LOST_EVERY = 100;
    private static final int OK = 200;
    private static final String KEY_FIELD = "Idempotency-Key";
    private static final String DONE = "done";

    private final IdempotencyTable keys = new IdempotencyTable(KeyTable.NAME);
    private final AtomicLong commits = new AtomicLong();
    private final List<Client> sessions = new ArrayList<>();
    private final BlockingQueue<Client> free;
    private final ExecutorService threads;
    private final HttpServer server;
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String address;

    /** Starts the service with {@code count} database sessions and {@code count} threads. */
    HttpService(Database database, Call call, Sequence inputs, int count)
            throws SQLException, IOException {
        free = new ArrayBlockingQueue<>(count);
        threads = Executors.newFixedThreadPool(count);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        address = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
        try {
            for (int c = 0; c < count; c++) {
                sessions.add(new Client(null, database, call, inputs));
            }
        } catch (SQLException e) {
            close();
            throw e;
        }
        free.addAll(sessions);
        server.setExecutor(threads);
        server.createContext("/", this::serve);
        server.start();
    }

    /**
     * Sends the request of a call.
     *
     * @param batch the number of the batch
     * @param k the number of the call
     * @param key the idempotency key, or null
     * @throws IOException if there is no response
     * @throws IllegalStateException if the status of the response is not 200
     */
    void request(long batch, long k, String key) throws IOException {
        var request =
                HttpRequest.newBuilder(URI.create(address + batch + "/" + k))
                        .POST(BodyPublishers.noBody());
        if (key != null) {
            request.header(KEY_FIELD, key);
        }
        try {
            int status = client.send(request.build(), BodyHandlers.ofString()).statusCode();
            if (status != OK) {
                throw new IllegalStateException("the service responded with " + status);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    private void serve(HttpExchange exchange) throws IOException {
        String[] words = exchange.getRequestURI().getPath().split("/");
        try (exchange) {
            perform(Long.parseLong(words[1]), Long.parseLong(words[2]), exchange.getRequestHeaders().getFirst(KEY_FIELD));
            if (commits.incrementAndGet() % LOST_EVERY != 0) {
                exchange.sendResponseHeaders(OK, -1);
            }
        } catch (SQLException | InterruptedException e) {
            throw new IOException(e); // Closes the connection.
        }
    }

    private void perform(long batch, long k, String key) throws SQLException, InterruptedException {
        Client session = free.take();
        try {
            session.begin(batch);
            session.transactions()
                    .<String, SQLException>run(
                            connection -> {
                                if (key != null) {
                                    return keys.key(key)
                                            .<SQLException>once(
                                                    connection,
                                                    open -> {
                                                        session.work(open, k);
                                                        return DONE;
                                                    });
                                }
                                session.work(connection, k);
                                return DONE;
                            });
        } finally {
            free.add(session);
        }
    }

    @Override
    public void close() throws SQLException {
        server.stop(0);
        threads.shutdownNow();
        for (Client session : sessions) {
            session.close();
        }
    }
}
