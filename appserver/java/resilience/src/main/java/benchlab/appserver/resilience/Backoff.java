// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.time.Duration;

/**
 * Exponential backoff. The upper bound of the delay doubles with each retry, up to a maximum. Each
 * delay is a random time below its bound, so that calls that collided once do not collide again
 * ("full jitter": M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015).
 *
 * @param initial the upper bound of the delay before the first retry
 * @param max the maximum delay; at least {@code initial}
 */
public record Backoff(Duration initial, Duration max) {

    /** A backoff without delays. */
    public static final Backoff NONE = new Backoff(Duration.ZERO, Duration.ZERO);

    private static final int MAX_DOUBLINGS = 62;

    public Backoff {
        if (initial.isNegative() || max.compareTo(initial) < 0) {
            throw new IllegalArgumentException(
                    "expected 0 <= initial <= max, got " + initial + ", " + max);
        }
        max.toNanos(); // Throws if it exceeds 292 years.
    }

    /**
     * Returns the delay before a retry, in nanoseconds.
     *
     * @param retry the number of the retry, starting with 1
     * @param random a random number in [0, 1)
     * @return the delay
     */
    long delay(int retry, double random) {
        double bound = initial.toNanos() * (double) (1L << Math.min(retry - 1, MAX_DOUBLINGS));
        return (long) (random * Math.min(bound, max.toNanos()));
    }
}
