// SPDX-License-Identifier: Apache-2.0
// A connection on which a test has every byte in its hand.
package benchlab.rest;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

final class Connection implements AutoCloseable {
    private final Socket socket;
    private final InputStream input;

    Connection(URI server) throws IOException {
        socket = new Socket(server.getHost(), server.getPort());
        socket.setSoTimeout(10_000);
        socket.setTcpNoDelay(true);
        input = new BufferedInputStream(socket.getInputStream());
    }

    /** The head of a request, to be followed by more header lines, and an empty one. */
    static String head(String method, String path) {
        return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n";
    }

    static String get(String path) {
        return head("GET", path) + "\r\n";
    }

    static String post(String path, String body) {
        int length = body.getBytes(StandardCharsets.UTF_8).length;
        return head("POST", path)
                + "Content-Type: application/json\r\nContent-Length: "
                + length
                + "\r\n\r\n"
                + body;
    }

    void send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Waits until the server has read all that was sent to it, as proc_net_tcp(5) tells. */
    void awaitRead() throws IOException, InterruptedException {
        String received =
                String.format(
                        " [0-9A-F]+:%04X [0-9A-F]+:%04X 01 [0-9A-F]{8}:0{8} .*",
                        socket.getPort(), socket.getLocalPort());
        for (int i = 0; i < 1000; i++) {
            for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
                try (var rows = Files.lines(Path.of(table))) {
                    if (rows.anyMatch(row -> row.substring(row.indexOf(':') + 1).matches(received))) {
                        return;
                    }
                }
            }
            Thread.sleep(10);
        }
        throw new IOException("the server did not read what was sent to it");
    }

    /** The status of the next answer and its body, such as {@code 200 {}}. */
    String answer() throws IOException {
        String status = line().split(" ")[1];
        int length = 0;
        for (String line = line(); !line.isEmpty(); line = line()) {
            String[] field = line.split(": *", 2);
            if (field[0].equalsIgnoreCase("Content-Length")) {
                length = Integer.parseInt(field[1]);
            }
        }
        return status + " " + new String(input.readNBytes(length), StandardCharsets.UTF_8);
    }

    /** Whether the server ends the connection, and sends nothing before. */
    boolean isEnded() throws IOException {
        return input.read() < 0;
    }

    private String line() throws IOException {
        var line = new StringBuilder();
        for (int c = input.read(); c != '\n'; c = input.read()) {
            if (c < 0) {
                throw new IOException("the connection ended after: " + line);
            }
            line.append((char) c);
        }
        return line.toString().stripTrailing();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
