// SPDX-License-Identifier: Apache-2.0
// A path and its methods: a context of the JDK's server matches all paths that begin with its path, and all
// methods.
package benchlab.rest;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.util.List;

/**
 * A handler of the JDK's server that is restricted to some methods.
 *
 * @param each true if the handler serves each name below the context's path; false if it only
 *     serves that path
 * @param methods the allowed methods
 * @param handler the handler
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

    /** Returns the decoded name after the context's path. */
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
