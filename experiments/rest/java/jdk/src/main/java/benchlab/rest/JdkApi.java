// SPDX-License-Identifier: Apache-2.0
// The API for the JDK's server, equivalent to benchlab.rest.Api for JAX-RS.
package benchlab.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

final class JdkApi {
    private JdkApi() {}

    static void greeting(HttpExchange exchange) throws IOException {
        Answer.json(exchange, Greetings.WORLD.getBytes(StandardCharsets.UTF_8));
    }

    static void built(HttpExchange exchange) throws IOException {
        send(exchange, Greetings.built(parameter(exchange, "number")));
    }

    static void hello(HttpExchange exchange) throws IOException {
        send(exchange, Greetings.hello(Route.name(exchange)));
    }

    static void echo(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(RestSubject.MAX_BODY + 1);
        if (body.length > RestSubject.MAX_BODY) {
            Answer.send(exchange, 413);
            return;
        }
        Optional<Order> order;
        try {
            order = Optional.ofNullable(Json.MAPPER.readValue(body, Order.class));
        } catch (JsonProcessingException e) {
            order = Optional.empty();
        }
        send(exchange, order);
    }

    /** Sends the value as JSON, or status 400 if there is no value. */
    private static void send(HttpExchange exchange, Optional<?> value) throws IOException {
        if (value.isPresent()) {
            Answer.json(exchange, Json.MAPPER.writeValueAsBytes(value.get()));
        } else {
            Answer.send(exchange, 400);
        }
    }

    /** Returns a decoded parameter of the query, or null if it is missing. */
    private static String parameter(HttpExchange exchange, String name) {
        String query = exchange.getRequestURI().getRawQuery();
        if (query != null) {
            for (String pair : query.split("&")) {
                if (pair.startsWith(name + "=")) {
                    return URLDecoder.decode(
                            pair.substring(name.length() + 1), StandardCharsets.UTF_8);
                }
            }
        }
        return null;
    }
}
