// SPDX-License-Identifier: Apache-2.0
// The example of the README.
package benchlab.appserver.resilience;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

final class ResilienceExample {
    private final HttpClient client = HttpClient.newHttpClient();
    private final Guard shop =
            Guard.of(
                    RetryPolicy.of(HttpFailures::classify)
                            .results(ResilienceExample::verdict)
                            .attempts(4)
                            .budget(new Budget(0.1, 20)),
                    new CircuitBreaker(CircuitBreaker.Options.DEFAULT),
                    new Bulkhead(8, Duration.ofSeconds(1)));

    /**
     * Sends an order, which is not idempotent. It is sent again if the server was not reached or
     * responded with 429 or 503, but not if the response was lost.
     */
    HttpResponse<String> send(HttpRequest order) throws Exception {
        return shop.<HttpResponse<String>, Exception>call(
                () -> client.send(order, BodyHandlers.ofString()));
    }

    private static @Nullable Verdict verdict(@Nullable Object result) {
        return result instanceof HttpResponse<?> response
                ? HttpFailures.ofResponse(
                        response.statusCode(),
                        response.headers().firstValue("Retry-After").orElse(null))
                : null;
    }
}
