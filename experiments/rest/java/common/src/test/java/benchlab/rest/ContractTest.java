// SPDX-License-Identifier: Apache-2.0
// Protects what experiments/rest/README.md says that every server answers: each request of it, once.
package benchlab.rest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ContractTest {
    private static final String WORLD = "{\"greeting\":\"Hello World!\"}";
    private static final int CONNECTIONS = 1100;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final byte[] content = new byte[65_536];
    private final Class<?> subject;
    private final String name;

    private Path files;
    private ServerProcess process;
    private URI server;

    /** @param subject has the server's {@code main} */
    ContractTest(Class<?> subject, String name) {
        this.subject = subject;
        this.name = name;
    }

    @BeforeAll
    void open(@TempDir Path folder) throws IOException {
        new Random(7).nextBytes(content);
        files = Files.createDirectory(folder.resolve("files"));
        Files.write(files.resolve("64k.bin"), content);
        Files.writeString(folder.resolve("secret.bin"), "not to be served");
        process = new ServerProcess(subject);
        server = url(process.open(8, files));
    }

    /** Wrong requests are no errors of the server, so nothing of all this is in its log. */
    @AfterAll
    void close() throws Exception {
        try (ServerProcess ending = process) {
            assertEquals("@lab closed", ending.tell("close"));
            assertEquals("", ending.end());
        }
    }

    @Test
    void saysWhatItIs() throws IOException {
        String hello = process.hello();
        assertTrue(hello.matches("@lab hello .* subject=" + name + " .* library=\\S+%20[0-9]\\S*"), hello);
    }

    @ParameterizedTest
    @CsvSource({
        "verify, unsupported",
        "run operations=1, unsupported",
        "open case=serve seed=7 workers=8 files=., usage",
    })
    void servesAndDoesNothingElse(String command, String code) throws IOException {
        String reply = process.tell(command);
        assertTrue(reply.startsWith("@lab error code=" + code + " "), reply);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "/api | {\"greeting\":\"Hello World!\"}",
                "/api/built?number=17 | {\"greeting\":\"Hello World!\",\"number\":17}",
                "/api/built?number=0 | {\"greeting\":\"Hello World!\",\"number\":0}",
                "/api/built?number=999999 | {\"greeting\":\"Hello World!\",\"number\":999999}",
                "/api/hello/Ada | {\"greeting\":\"Hello Ada!\"}",
                "/api/hello/Ada%20L. | {\"greeting\":\"Hello Ada L.!\"}",
                "/api/hello/%22O'Neill-2%22 | {\"greeting\":\"Hello \\\"O'Neill-2\\\"!\"}",
                "/api/hello/12345678901234567890123456789012"
                        + " | {\"greeting\":\"Hello 12345678901234567890123456789012!\"}",
            })
    void answersAsJson(String path, String body) throws Exception {
        HttpResponse<byte[]> answer = ask("GET", path, "");
        assertEquals(200, answer.statusCode());
        assertTrue(header(answer, "Content-Type").matches("application/json(; *charset=utf-8)?"));
        assertTrue(answer.headers().firstValue("Content-Encoding").isEmpty());
        assertEquals(body, new String(answer.body()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/api/built",
                "/api/built?number=",
                "/api/built?number=-1",
                "/api/built?number=%2B1",
                "/api/built?number=1.5",
                "/api/built?number=1000000",
                "/api/built?number=99999999999",
                "/api/hello/123456789012345678901234567890123",
                "/api/hello/a%3Cb",
                "/api/hello/a%2Fb",
                "/api/hello/a%5Cb",
                "/api/hello/a%00b",
                "/api/hello/a%0Ab",
                "/api/hello/a+b",
                "/api/hello/%C3%A9",
            })
    void refusesWhatIsNotValid(String path) throws Exception {
        assertEquals(400, ask("GET", path, "").statusCode());
    }

    @Test
    void echoesTheDocument() throws Exception {
        String order = order();
        HttpResponse<byte[]> answer = ask("POST", "/api/echo", order);
        assertEquals(200, answer.statusCode());
        var json = new ObjectMapper();
        assertEquals(json.readTree(order), json.readTree(answer.body()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "{\"id\":", "{} x", "{\"id\":1,}", "nonsense", "[", "\"\\u00"})
    void refusesWhatIsNotJson(String body) throws Exception {
        assertEquals(400, ask("POST", "/api/echo", body).statusCode());
    }

    @Test
    void takesUpTo64KiB() throws Exception {
        String order = order();
        String largest = order + " ".repeat(65_536 - order.length());
        assertEquals(200, ask("POST", "/api/echo", largest).statusCode());
        assertEquals(413, ask("POST", "/api/echo", largest + " ").statusCode());
    }

    @Test
    void servesFiles() throws Exception {
        for (int k = 0; k < 2; k++) { // Some keep a file that they have served.
            HttpResponse<byte[]> answer = ask("GET", "/files/64k.bin", "");
            assertEquals(200, answer.statusCode());
            assertEquals("application/octet-stream", header(answer, "Content-Type"));
            assertArrayEquals(content, answer.body());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/files/../secret.bin",
                "/files/%2e%2e/secret.bin",
                "/files/..%2fsecret.bin",
                "/files/..%5csecret.bin",
                "/files//../secret.bin",
                "/files/64k.bin/../../secret.bin",
            })
    void servesNoOtherFiles(String path) throws Exception {
        try (var connection = new Connection(server)) {
            connection.send(Connection.get(path));
            String answer = connection.answer();
            assertTrue(answer.matches("(?s)40[04] .*"), answer);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/api", "/api/built?number=17", "/api/hello/Ada", "/files/64k.bin"})
    void answersHeadAsGet(String path) throws Exception {
        HttpResponse<byte[]> get = ask("GET", path, "");
        HttpResponse<byte[]> head = ask("HEAD", path, "");
        assertEquals(200, head.statusCode());
        assertEquals(0, head.body().length);
        for (String name : List.of("Content-Type", "Content-Length")) {
            assertEquals(header(get, name), header(head, name));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/other", "/apis", "/api/other", "/api/hello", "/api/echo/x", "/files/none"})
    void knowsNoOtherPath(String path) throws Exception {
        assertEquals(404, ask("GET", path, "").statusCode());
    }

    @ParameterizedTest
    @CsvSource({
        "POST, /api, GET",
        "DELETE, /api, GET",
        "PUT, /api/built?number=1, GET",
        "PATCH, /api/hello/Ada, GET",
        "GET, /api/echo, POST",
        "HEAD, /api/echo, POST",
        "DELETE, /api/echo, POST",
        "POST, /files/64k.bin, GET",
        "PUT, /files/64k.bin, GET",
        "PATCH, /files/64k.bin, GET",
        "DELETE, /files/64k.bin, GET",
    })
    void refusesOtherMethods(String method, String path, String allowed) throws Exception {
        HttpResponse<byte[]> answer = ask(method, path, method.startsWith("P") ? "{}" : "");
        assertEquals(405, answer.statusCode());
        String allow = header(answer, "Allow");
        assertTrue(List.of(allow.split(", *")).contains(allowed), allow);
    }

    @Test
    void tellsTheDate() throws Exception {
        String first = date();
        long end = System.nanoTime() + 5_000_000_000L;
        while (first.equals(date()) && System.nanoTime() < end) {
            Thread.sleep(100);
        }
        assertNotEquals(first, date());
    }

    @Test
    void takesRequestsInPieces() throws Exception {
        try (var connection = new Connection(server)) {
            String request = Connection.post("/api/echo", order());
            for (int at = 0; at < request.length(); at += 97) {
                connection.send(request.substring(at, Math.min(request.length(), at + 97)));
                Thread.sleep(1);
            }
            assertTrue(connection.answer().startsWith("200 {"));
        }
    }

    /** More than the servers' usual limits of requests for a connection. */
    @Test
    void answersPipelinedRequestsInOrder() throws Exception {
        try (var connection = new Connection(server)) {
            for (int first = 0; first < 600; first += 3) {
                connection.send(
                        Connection.get("/api/built?number=" + first)
                                + Connection.post("/api/echo", "{\"id\":" + (first + 1) + "}")
                                + Connection.get("/api/hello/" + (first + 2)));
                assertTrue(connection.answer().endsWith("\"number\":" + first + "}"));
                assertTrue(connection.answer().startsWith("200 {\"id\":" + (first + 1) + ","));
                assertTrue(connection.answer().endsWith("Hello " + (first + 2) + "!\"}"));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/api", "/files/64k.bin", "/files/64k.bin", "/files/none"})
    void closesWhenItIsAskedTo(String path) throws Exception {
        try (var connection = new Connection(server)) {
            connection.send(Connection.head("GET", path) + "Connection: close\r\n\r\n");
            assertTrue(connection.answer().startsWith(path.endsWith("none") ? "404" : "200"));
            assertTrue(connection.isEnded());
        }
    }

    @Test
    void keepsManyConnections() throws Exception {
        var connections = new ArrayList<Connection>();
        try {
            for (int k = 0; k < CONNECTIONS; k++) {
                connections.add(new Connection(server));
            }
            for (int round = 0; round < 2; round++) {
                for (Connection connection : connections) {
                    connection.send(Connection.get("/api"));
                }
                for (Connection connection : connections) {
                    assertEquals("200 " + WORLD, connection.answer());
                }
            }
        } finally {
            for (Connection connection : connections) {
                connection.close();
            }
        }
    }

    /** A second server, since closing is at the end: what is under way is answered, and then the port is free. */
    @Test
    void closesGracefully() throws Exception {
        try (var other = new ServerProcess(subject)) {
            Map<String, String> opened = other.open(3, files);
            assertEquals("3", opened.get("workers"));
            assertTrue(Integer.parseInt(opened.get("loops")) >= 1);
            URI url = url(opened);
            var closed = new FutureTask<>(() -> other.tell("close"));
            try (var connection = new Connection(url)) {
                String request = Connection.post("/api/echo", "{\"id\":1}");
                connection.send(request.substring(0, request.length() - 1));
                connection.awaitRead();
                Thread.sleep(200); // From the socket to the handler.
                new Thread(closed).start();
                awaitRefused(url);
                connection.send(request.substring(request.length() - 1));
                assertTrue(connection.answer().startsWith("200 {\"id\":1,"));
            }
            assertEquals("@lab closed", closed.get());
            assertThrows(ConnectException.class, () -> new Connection(url).close());

            URI again = url(other.open(2, files));
            try (var connection = new Connection(again)) {
                connection.send(Connection.get("/api"));
                assertEquals("200 " + WORLD, connection.answer());
            }
            assertEquals("@lab closed", other.tell("close"));
            assertEquals("", other.end());
        }
    }

    /** Until the port is closed. */
    private static void awaitRefused(URI url) throws Exception {
        long end = System.nanoTime() + 20_000_000_000L;
        while (System.nanoTime() < end) {
            try {
                new Connection(url).close();
            } catch (ConnectException refused) {
                return;
            }
            Thread.sleep(10);
        }
        fail("it still listens");
    }

    private HttpResponse<byte[]> ask(String method, String path, String body) throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(server.resolve(path)).timeout(Duration.ofSeconds(20));
        if (method.startsWith("P")) {
            request.method(method, BodyPublishers.ofString(body)).header("Content-Type", "application/json");
        } else {
            request.method(method, BodyPublishers.noBody());
        }
        HttpResponse<byte[]> answer = client.send(request.build(), BodyHandlers.ofByteArray());
        assertTrue(header(answer, "Date").endsWith(" GMT"));
        return answer;
    }

    private String date() throws Exception {
        return header(ask("GET", "/api", ""), "Date");
    }

    private static String header(HttpResponse<?> answer, String name) {
        return answer.headers().firstValue(name).orElseThrow();
    }

    private static URI url(Map<String, String> opened) {
        return URI.create(opened.get("url"));
    }

    private static String order() throws IOException {
        return Files.readString(Path.of("../../order.json"));
    }
}
