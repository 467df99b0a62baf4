// SPDX-License-Identifier: Apache-2.0
// Tests retries of HTTP requests with java.net.http, against a server that fails.
package benchlab.appserver.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HttpFailuresTest {

    private static final String DONE = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\ndone";
    private static final String BUSY =
            "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
    private static final String LOST = ""; // Applied, but the response is lost.

    private final FakeTimer timer = new FakeTimer();

    /**
     * A server that reads a request from each connection, and sends the given responses in turn.
     */
    private static final class Server implements AutoCloseable {
        private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final AtomicInteger applied = new AtomicInteger();
        private final List<String> responses;

        Server(String... responses) throws IOException {
            this.responses = List.of(responses);
            var thread = new Thread(this::serve);
            thread.setDaemon(true);
            thread.start();
        }

        private void serve() {
            try {
                for (String response : responses) {
                    try (Socket client = socket.accept()) {
                        readHead(client);
                        applied.addAndGet(response.equals(BUSY) ? 0 : 1);
                        client.getOutputStream().write(response.getBytes(StandardCharsets.US_ASCII));
                    }
                }
            } catch (IOException e) {
                // The test has ended.
            }
        }

        private static void readHead(Socket client) throws IOException {
            int ends = 0;
            while (ends < 2) {
                int next = client.getInputStream().read();
                if (next < 0) {
                    return;
                }
                ends = next == '\n' ? ends + 1 : next == '\r' ? ends : 0;
            }
        }

        URI uri() {
            return URI.create("http://127.0.0.1:" + socket.getLocalPort() + "/");
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private RetryPolicy policy(HttpRequest request) {
        return RetryPolicy.of(HttpFailures::classify)
                .idempotent(HttpFailures.isIdempotent(request.method()))
                .results(
                        result ->
                                result instanceof HttpResponse<?> response
                                        ? HttpFailures.ofResponse(
                                                response.statusCode(),
                                                response.headers().firstValue("Retry-After").orElse(null))
                                        : null)
                .timer(timer);
    }

    private HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
        var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        Work<HttpResponse<String>, Exception> work = () -> client.send(request, BodyHandlers.ofString());
        try {
            return policy(request).call(work);
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static HttpRequest get(Server server) {
        return HttpRequest.newBuilder(server.uri()).build();
    }

    private static HttpRequest post(Server server) {
        return HttpRequest.newBuilder(server.uri()).POST(BodyPublishers.noBody()).build();
    }

    @Test
    void aRejectedRequestIsRetriedWhenTheServerSays() throws Exception {
        try (var server = new Server(BUSY, DONE)) {
            assertEquals("done", send(post(server)).body());
            assertEquals(1, server.applied.get());
            assertEquals(List.of(Duration.ofSeconds(7).toNanos()), timer.pauses);
        }
    }

    @Test
    void aPostWhoseResponseIsLostIsAppliedOnce() throws Exception {
        try (var server = new Server(LOST, DONE)) {
            assertThrows(IOException.class, () -> send(post(server)));
            assertEquals(1, server.applied.get());
        }
    }

    @Test
    void aGetWhoseResponseIsLostIsRepeated() throws Exception {
        try (var server = new Server(LOST, LOST, DONE)) {
            assertEquals("done", send(get(server)).body());
        }
    }

    @Test
    void theExampleSendsAnOrderOnce() throws Exception {
        try (var server = new Server(LOST, DONE)) {
            assertThrows(IOException.class, () -> new ResilienceExample().send(post(server)));
            assertEquals(1, server.applied.get());
        }
    }

    @Test
    void theLastResponseIsReturned() throws Exception {
        try (var server = new Server(BUSY, BUSY, BUSY, DONE)) {
            assertEquals(503, send(post(server)).statusCode());
        }
    }

    @Test
    void aServerThatIsDownHasDoneNothing() throws Exception {
        URI uri;
        try (var server = new Server()) {
            uri = server.uri();
        }
        var request = HttpRequest.newBuilder(uri).POST(BodyPublishers.noBody()).build();
        assertThrows(ConnectException.class, () -> send(request));
        assertEquals(2, timer.pauses.size());
    }

    @Test
    void exceptionsAndStatusesHaveAVerdict() {
        assertEquals(Verdict.TRANSIENT, HttpFailures.classify(new IOException(new ConnectException())));
        assertEquals(Verdict.OUTCOME_UNKNOWN, HttpFailures.classify(new HttpTimeoutException("late")));
        assertEquals(Verdict.OUTCOME_UNKNOWN, HttpFailures.classify(new UncheckedIOException(new IOException("lost"))));
        assertEquals(Verdict.OUTCOME_UNKNOWN, HttpFailures.classify(new RuntimeException(new SocketTimeoutException())));
        assertEquals(Verdict.TRANSIENT, HttpFailures.classify(new RuntimeException(new ConnectException())));
        assertEquals(Verdict.PERMANENT, HttpFailures.classify(new IllegalArgumentException()));
        assertEquals(FailureKind.OUTCOME_UNKNOWN, HttpFailures.ofResponse(504, null).kind());
        assertEquals(FailureKind.TRANSIENT, HttpFailures.ofResponse(429, null).kind());
        assertNull(HttpFailures.ofResponse(404, null));
        assertNull(HttpFailures.ofResponse(200, null));
        assertEquals(List.of(true, false), List.of(HttpFailures.isIdempotent("PUT"), HttpFailures.isIdempotent("POST")));
    }

    @Test
    void causesMayFormACycle() {
        var outer = new IllegalStateException();
        outer.initCause(new IllegalArgumentException(outer));
        assertEquals(Verdict.PERMANENT, HttpFailures.classify(outer));
    }

    @Test
    void retryAfterIsSecondsOrADate() {
        Instant now = Instant.parse("2026-01-01T00:00:00Z");
        assertEquals(Duration.ofSeconds(120), HttpFailures.delay("120", now));
        assertEquals(Duration.ofSeconds(90), HttpFailures.delay("Thu, 01 Jan 2026 00:01:30 GMT", now));
        assertEquals(Duration.ZERO, HttpFailures.delay("Wed, 31 Dec 2025 23:00:00 GMT", now));
        assertEquals(
                Duration.ofDays(36_500), HttpFailures.delay("Fri, 31 Dec 9999 23:59:59 GMT", now));
        assertEquals(Duration.ZERO, HttpFailures.delay("soon", now));
        assertEquals(Duration.ZERO, HttpFailures.delay("99999999999999999999", now));
        assertEquals(Duration.ZERO, HttpFailures.delay(null, now));
    }

    @Test
    void aRetryAfterInTheFarFutureIsADelay() {
        for (String date :
                List.of("Sat, 01 Jan 2400 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT")) {
            Verdict verdict = HttpFailures.ofResponse(503, date);
            assertEquals(Verdict.TRANSIENT.after(Duration.ofDays(36_500)), verdict);
        }
    }
}
