// SPDX-License-Identifier: Apache-2.0
// The Retry of Resilience4j.
package benchlab.retry;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.core.IntervalFunction;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import java.time.Duration;

final class Resilience4j {

    private static final int ATTEMPTS = 4;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final double FACTOR = 2;

    private Resilience4j() {}

    static String library() {
        return "Resilience4j " + Retry.class.getPackage().getImplementationVersion();
    }

    /** Creates a variant with delays of 10, 20 and 40 ms, each randomized by ±50%. */
    static Variant variant() {
        return new JdbcVariant(retry()::executeCallable);
    }

    /** Creates the same variant with a circuit breaker for all attempts. */
    static Variant breakerVariant() {
        Retry retry = retry();
        CircuitBreaker breaker = Breakers.resilience4j();
        return new JdbcVariant(attempt -> retry.executeCallable(() -> breaker.executeCallable(attempt)));
    }

    private static Retry retry() {
        var config =
                RetryConfig.custom()
                        .maxAttempts(ATTEMPTS)
                        .intervalFunction(
                                IntervalFunction.ofExponentialRandomBackoff(FIRST_PAUSE, FACTOR))
                        .retryOnException(failure -> TransientError.of(failure).isPresent())
                        .build();
        return Retry.of("calls", config);
    }
}
