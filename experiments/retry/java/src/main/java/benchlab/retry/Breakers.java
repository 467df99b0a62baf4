// SPDX-License-Identifier: Apache-2.0
// Circuit breakers with equal settings: they open for a second if half of the last 20 attempts have lost their connection.
package benchlab.retry;

import benchlab.appserver.resilience.CircuitBreaker;
import benchlab.appserver.resilience.CircuitOpenException;
import benchlab.appserver.retry.Faults;
import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import java.time.Duration;

final class Breakers {

    private static final int WINDOW = 20;
    private static final double FAILURE_RATE = 0.5;
    private static final Duration OPEN_TIME = Duration.ofSeconds(1);

    private Breakers() {}

    static CircuitBreaker own() {
        return new CircuitBreaker(
                CircuitBreaker.Options.DEFAULT
                        .window(WINDOW)
                        .failureRate(FAILURE_RATE)
                        .openTime(OPEN_TIME)
                        .recording(Faults::isOutage));
    }

    static io.github.resilience4j.circuitbreaker.CircuitBreaker resilience4j() {
        var config =
                CircuitBreakerConfig.custom()
                        .slidingWindowSize(WINDOW)
                        .minimumNumberOfCalls(WINDOW)
                        .failureRateThreshold((float) (100 * FAILURE_RATE))
                        .waitDurationInOpenState(OPEN_TIME)
                        .permittedNumberOfCallsInHalfOpenState(1)
                        .recordException(Faults::isOutage)
                        .build();
        return io.github.resilience4j.circuitbreaker.CircuitBreaker.of("calls", config);
    }

    /** Returns true if a circuit breaker has rejected the call. */
    static boolean isRejection(Exception failure) {
        return failure instanceof CircuitOpenException || failure instanceof CallNotPermittedException;
    }
}
