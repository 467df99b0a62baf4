// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.time.Duration;

/**
 * Thrown if a {@link CircuitBreaker} is open. The call was not made. The failure is permanent: a
 * caller that waited for the circuit breaker would occupy its thread for as long as the service is
 * down.
 */
public final class CircuitOpenException extends GuardException {
    private static final long serialVersionUID = 1;

    private final Duration retryAfter;

    CircuitOpenException(Duration retryAfter) {
        super("the circuit breaker is open; the next call is admitted in " + retryAfter, Verdict.PERMANENT);
        this.retryAfter = retryAfter;
    }

    /**
     * Returns the time after which the circuit breaker admits a call again; zero if it is waiting
     * for the result of a trial. A server can send this time in a {@code Retry-After} field.
     *
     * @return the time
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
