// SPDX-License-Identifier: Apache-2.0
// How long to wait before a retry.
package benchlab.appserver.retry;

import java.time.Duration;

/**
 * Pauses that double from retry to retry, up to a longest one. Each is drawn at random between
 * nothing and that bound, so that those who met once do not meet again ("full jitter": M. Brooker,
 * Exponential Backoff and Jitter, AWS Architecture Blog, 2015).
 *
 * @param initial the bound of the pause before the first retry
 * @param max no pause is longer; at least {@code initial}
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
