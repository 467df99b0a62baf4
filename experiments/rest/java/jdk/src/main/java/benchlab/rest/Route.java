// SPDX-License-Identifier: Apache-2.0
// A path and its methods: a context of the JDK's server is for all that begins with its path, and for all methods.
package benchlab.rest;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.util.List;

/**
 * @param each whether the handler is for each name below the context's path, or for that path alone
 * @param methods the ones that are allowed
 */
record Route(boolean each, List<String> methods, HttpHandler handler) implements HttpHandler {

    static Route get(HttpHandler handler) {
        return new Route(false, List.of("GET", "HEAD"), handler);
    }

    static Route getEach(HttpHandler handler) {
        return new Route(true, List.of("GET", "HEAD"), handler);
    }

    static Route post(HttpHandler handler) {
        return new Route(false, List.of("POST"), handler);
    }

    /** The name behind the context's path, decoded. */
    static String name(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        return path.substring(exchange.getHttpContext().getPath().length());
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        if (!matches(exchange)) {
            Answer.send(exchange, 404);
        } else if (!methods.contains(exchange.getRequestMethod())) {
            exchange.getResponseHeaders().set("Allow", String.join(", ", methods));
            Answer.send(exchange, 405);
        } else {
            handler.handle(exchange);
        }
    }

    private boolean matches(HttpExchange exchange) {
        String rest =
                exchange.getRequestURI()
                        .getRawPath()
                        .substring(exchange.getHttpContext().getPath().length());
        return each ? !rest.isEmpty() && rest.indexOf('/') < 0 : rest.isEmpty();
    }
}
