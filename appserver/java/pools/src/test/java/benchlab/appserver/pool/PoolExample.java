// SPDX-License-Identifier: Apache-2.0
// An example of a pool: connections to a server with a line protocol.
package benchlab.appserver.pool;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/**
 * A client of a server that responds to each line with a line; at most two connections are open.
 */
final class PoolExample implements AutoCloseable {
    private final Pool<Socket> connections;

    PoolExample(InetSocketAddress server) {
        connections =
                new Pool<>(
                        2,
                        PoolOptions.of(() -> new Socket(server.getAddress(), server.getPort()))
                                .validate(socket -> socket.getInputStream().available() == 0)
                                .destroy(Socket::close));
    }

    String ask(String question) throws IOException, InterruptedException, TimeoutException {
        try (Lease<Socket> lease = connections.lease(Duration.ofSeconds(30))) {
            try {
                return exchange(lease.resource(), question);
            } catch (IOException e) {
                lease.markBroken(); // The position in the response is unknown.
                throw e;
            }
        }
    }

    private static String exchange(Socket socket, String question) throws IOException {
        var encoding = StandardCharsets.UTF_8;
        socket.getOutputStream().write((question + "\n").getBytes(encoding));
        var reader = new InputStreamReader(socket.getInputStream(), encoding);
        String answer = new BufferedReader(reader).readLine();
        if (answer == null) {
            throw new IOException("the server closed the connection");
        }
        return answer;
    }

    PoolStatistics statistics() {
        return connections.statistics();
    }

    @Override
    public void close() {
        connections.close();
    }
}
