// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * Optional limits of a cache, for example {@code
 * CacheOptions.UNLIMITED.maximumSize(1000).timeToLive(Duration.ofMinutes(5))}.
 *
 * @param maximumSize the maximum number of values, at least 1; beyond it, the oldest value is
 *     evicted
 * @param timeToLive the time from the write of a value until the value expires: more than 0, at
 *     most 100 years; null if values never expire
 * @param clock the time in nanoseconds from an arbitrary origin; {@link System#nanoTime} except in
 *     tests
 */
public record CacheOptions(int maximumSize, Duration timeToLive, LongSupplier clock) {

    /** No limit on the number of values, which never expire. */
    public static final CacheOptions UNLIMITED =
            new CacheOptions(Integer.MAX_VALUE, null, System::nanoTime);

    private static final Duration MAX_TIME_TO_LIVE = Duration.ofDays(36_500);

    public CacheOptions {
        if (maximumSize < 1) {
            throw new IllegalArgumentException("maximumSize must be at least 1: " + maximumSize);
        }
        if (timeToLive != null
                && (timeToLive.isNegative()
                        || timeToLive.isZero()
                        || timeToLive.compareTo(MAX_TIME_TO_LIVE) > 0)) {
            throw new IllegalArgumentException(
                    "timeToLive must be more than 0 and at most 100 years: " + timeToLive);
        }
        Objects.requireNonNull(clock, "clock");
    }

    /**
     * Returns a copy with another {@code maximumSize}.
     *
     * @param values the maximum number of values
     * @return the options
     */
    public CacheOptions maximumSize(int values) {
        return new CacheOptions(values, timeToLive, clock);
    }

    /**
     * Returns a copy with another {@code timeToLive}.
     *
     * @param time the time after which a value expires; null for never
     * @return the options
     */
    public CacheOptions timeToLive(Duration time) {
        return new CacheOptions(maximumSize, time, clock);
    }

    /**
     * Returns a copy with another {@code clock}.
     *
     * @param ns the time in nanoseconds
     * @return the options
     */
    public CacheOptions clock(LongSupplier ns) {
        return new CacheOptions(maximumSize, timeToLive, ns);
    }

    /** Returns true if the cache has to track the order of writes. */
    boolean isLimited() {
        return maximumSize < Integer.MAX_VALUE || timeToLive != null;
    }
}
