// SPDX-License-Identifier: Apache-2.0
// Streams files of a directory; the JDK only has a handler for them from Java 18 on.
package benchlab.rest;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

record FileHandler(Path folder) implements HttpHandler {
    @Override
    public void handle(HttpExchange exchange) throws IOException {
        Path file = file(Route.name(exchange));
        if (file.startsWith(folder) && Files.isRegularFile(file)) {
            Answer.send(
                    exchange,
                    "application/octet-stream",
                    Files.size(file),
                    output -> Files.copy(file, output));
        } else {
            Answer.send(exchange, 404);
        }
    }

    /**
     * Returns the path of the file {@code name}, or the directory if no file can have this name.
     */
    private Path file(String name) {
        try {
            return folder.resolve(name).normalize();
        } catch (InvalidPathException e) {
            return folder;
        }
    }
}
