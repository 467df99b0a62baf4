// SPDX-License-Identifier: Apache-2.0
// The limits of a cache.
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * The limits of a cache, both of them optional: {@code
 * CacheOptions.UNLIMITED.maximumSize(1000).timeToLive(Duration.ofMinutes(5))}.
 *
 * @param maximumSize how many values there may be, at least 1; the one written longest ago leaves
 *     first
 * @param timeToLive how long after it was put a value is too old: more than 0, at most 100 years;
 *     null for ever
 * @param clock the time in ns, from any beginning; {@link System#nanoTime} but for tests
 */
public record CacheOptions(int maximumSize, Duration timeToLive, LongSupplier clock) {

    /** Any number of values, for ever. */
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

    public CacheOptions maximumSize(int values) {
        return new CacheOptions(values, timeToLive, clock);
    }

    public CacheOptions timeToLive(Duration time) {
        return new CacheOptions(maximumSize, time, clock);
    }

    public CacheOptions clock(LongSupplier ns) {
        return new CacheOptions(maximumSize, timeToLive, ns);
    }

    /** True if the order of writing matters. */
    boolean isLimited() {
        return maximumSize < Integer.MAX_VALUE || timeToLive != null;
    }
}
