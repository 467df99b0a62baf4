// SPDX-License-Identifier: Apache-2.0
// Tests the example: connections are reused, except after a failure.
package benchlab.appserver.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class PoolExampleTest {

    @Test
    void usesAConnectionUntilItBreaks() throws Exception {
        try (var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            var serving = new Thread(() -> serve(server));
            serving.start();
            var address = new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
            try (var client = new PoolExample(address)) {
                assertEquals("1: hello", client.ask("hello"));
                assertEquals("1: again", client.ask("again"));
                assertThrows(IOException.class, () -> client.ask("end"));
                assertEquals("2: hello", client.ask("hello"));
                assertEquals(1, client.statistics().broken());
                assertEquals(4, client.statistics().leases());
            }
            serving.join();
        }
    }

    /**
     * Serves two connections one after the other: responds to each line with the connection's
     * number, until "end".
     */
    private static void serve(ServerSocket server) {
        try {
            for (int number = 1; number <= 2; number++) {
                try (Socket socket = server.accept()) {
                    var reader =
                            new BufferedReader(
                                    new InputStreamReader(
                                            socket.getInputStream(), StandardCharsets.UTF_8));
                    String line;
                    while ((line = reader.readLine()) != null && !line.equals("end")) {
                        String answer = number + ": " + line + "\n";
                        socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
                    }
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
