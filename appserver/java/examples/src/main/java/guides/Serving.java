// SPDX-License-Identifier: Apache-2.0
package guides;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** Serves JSON with the JDK's HTTP server. */
final class Serving {

    static final ObjectMapper JSON = new ObjectMapper();

    record Response(int status, Object content) {}

    interface Handler {
        Response respond(String methodAndPath, HttpExchange exchange) throws Exception;
    }

    private Serving() {}

    /** Serves on the loopback address until standard input of this process ends. */
    static void serve(String port, Handler handler) throws IOException {
        var loopback = InetAddress.getLoopbackAddress();
        var server = HttpServer.create(new InetSocketAddress(loopback, Integer.parseInt(port)), 0);
        server.createContext("/", exchange -> respond(exchange, handler));
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
        System.out.println("http://127.0.0.1:" + server.getAddress().getPort());
        System.in.transferTo(OutputStream.nullOutputStream());
        System.exit(0);
    }

    private static void respond(HttpExchange exchange, Handler handler) throws IOException {
        String path = exchange.getRequestURI().getPath();
        Response response;
        try {
            response = handler.respond(exchange.getRequestMethod() + " " + path, exchange);
        } catch (JacksonException | IllegalArgumentException e) {
            response = new Response(400, "invalid request");
        } catch (Exception e) {
            System.err.println(e);
            response = new Response(500, "internal error; see the log");
        }
        try (exchange) {
            byte[] content = JSON.writeValueAsBytes(response.content());
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(response.status(), content.length);
            exchange.getResponseBody().write(content);
        }
    }
}
