// SPDX-License-Identifier: Apache-2.0
// How long to wait before a retry.
package benchlab.appserver.retry;

import java.time.Duration;

/**
 * Pauses that double from retry to retry, up to a longest one. Each is drawn at random between
 * nothing and that bound, so that those who met once do not meet again ("full jitter": M. Brooker,
 * Exponential Backoff and Jitter, AWS Architecture Blog, 2015).
 *
 * @param first the bound of the pause before the first retry
 * @param longest no pause is longer; at least {@code first}
 */
public record Backoff(Duration first, Duration longest) {

    /** No pauses. */
    public static final Backoff NONE = new Backoff(Duration.ZERO, Duration.ZERO);

    private static final int MAX_DOUBLINGS = 62;

    public Backoff {
        if (first.isNegative() || longest.compareTo(first) < 0) {
            throw new IllegalArgumentException(
                    "not 0 <= first <= longest: " + first + ", " + longest);
        }
        longest.toNanos(); // Throws if it is beyond 292 years.
    }

    /** As {@code new Backoff}, in milliseconds. */
    public static Backoff ofMillis(long first, long longest) {
        return new Backoff(Duration.ofMillis(first), Duration.ofMillis(longest));
    }

    /**
     * The pause before a retry, in nanoseconds.
     *
     * @param retry 1 for the first one
     * @param random at least 0, below 1
     */
    long pause(int retry, double random) {
        double bound = first.toNanos() * (double) (1L << Math.min(retry - 1, MAX_DOUBLINGS));
        return (long) (random * Math.min(bound, longest.toNanos()));
    }
}
