// SPDX-License-Identifier: Apache-2.0
// Keeps a closing server from starting responses that it would cut off.
package benchlab.rest;

import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;

/** Closes the connections of requests that arrive after the shutdown has begun. */
final class Ending extends Filter {
    private volatile boolean begun;

    void begin() {
        begun = true;
    }

    /** Adds a handler to a server, after this filter. */
    void add(HttpServer server, String path, HttpHandler handler) {
        server.createContext(path, handler).getFilters().add(this);
    }

    @Override
    public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
        if (begun) {
            exchange.close();
        } else {
            chain.doFilter(exchange);
        }
    }

    @Override
    public String description() {
        return "closes the connection of each request that arrives during shutdown";
    }
}
