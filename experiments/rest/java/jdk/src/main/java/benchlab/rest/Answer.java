// SPDX-License-Identifier: Apache-2.0
// Responses to GET and HEAD; for HEAD, the JDK's server does not know the headers of the GET
// response.
package benchlab.rest;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.OutputStream;

final class Answer {
    private static final int NO_BODY = -1;

    private Answer() {}

    /** Writes a body. */
    @FunctionalInterface
    interface Body {
        void writeTo(OutputStream output) throws IOException;
    }

    /** Sends a status without a body. */
    static void send(HttpExchange exchange, int status) throws IOException {
        try (exchange) {
            exchange.sendResponseHeaders(status, NO_BODY);
        }
    }

    static void json(HttpExchange exchange, byte[] document) throws IOException {
        send(exchange, "application/json", document.length, output -> output.write(document));
    }

    /**
     * Sends a body.
     *
     * @param length the length of the body in bytes, not 0
     */
    static void send(HttpExchange exchange, String type, long length, Body body) throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", type);
            if (exchange.getRequestMethod().equals("HEAD")) {
                exchange.getResponseHeaders().set("Content-Length", Long.toString(length));
                exchange.sendResponseHeaders(200, NO_BODY);
            } else {
                exchange.sendResponseHeaders(200, length);
                body.writeTo(exchange.getResponseBody());
            }
        }
    }
}
