// SPDX-License-Identifier: Apache-2.0
// Exponential backoff.
package benchlab.appserver.retry;

import java.time.Duration;

/**
 * Exponential backoff. The upper bound of the pause doubles with each retry, up to a maximum. Each
 * pause is a random time below its bound, so that calls that collided once do not collide again
 * ("full jitter": M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015).
 *
 * @param initial the upper bound of the pause before the first retry
 * @param max the maximum pause; at least {@code initial}
 */
public record Backoff(Duration initial, Duration max) {

    /** No pauses. */
    public static final Backoff NONE = new Backoff(Duration.ZERO, Duration.ZERO);

    private static final int MAX_DOUBLINGS = 62;

    public Backoff {
        if (initial.isNegative() || max.compareTo(initial) < 0) {
            throw new IllegalArgumentException(
                    "not 0 <= initial <= max: " + initial + ", " + max);
        }
        max.toNanos(); // Throws if it is beyond 292 years.
    }

    /**
     * The pause before a retry, in nanoseconds.
     *
     * @param retry 1 for the first one
     * @param random at least 0, below 1
     */
    long pause(int retry, double random) {
        double bound = initial.toNanos() * (double) (1L << Math.min(retry - 1, MAX_DOUBLINGS));
        return (long) (random * Math.min(bound, max.toNanos()));
    }
}
