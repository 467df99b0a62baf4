// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Optional limits and features of a cache, for example {@code
 * CacheOptions.UNLIMITED.maximumSize(1000).timeToLive(Duration.ofMinutes(5))}. Immutable: each method
 * returns a changed copy.
 *
 * @param <K> a supertype of the keys
 * @param <V> a supertype of the values
 */
public final class CacheOptions<K, V> implements Cloneable {

    /** Options without limits, expiry, listener or statistics. */
    public static final CacheOptions<Object, Object> UNLIMITED = new CacheOptions<>();

    static final long UNBOUNDED = Long.MAX_VALUE;

    private static final Duration MAX_TIME = Duration.ofDays(36_500);

    private long maximumWeight = UNBOUNDED;
    private Weigher<? super K, ? super V> weigher = (key, value) -> 1;
    private @Nullable Duration timeToLive;
    private @Nullable BiFunction<? super K, ? super V, @Nullable Duration> timeToLiveOf;
    private @Nullable Duration expireAfterAccess;
    private @Nullable Duration refreshAfterWrite;
    private Executor executor = Runnable::run;
    private @Nullable RemovalListener<? super K, ? super V> removalListener;
    private boolean recordsStatistics;
    private LongSupplier clock = System::nanoTime;

    private CacheOptions() {}

    /**
     * Limits the number of values. The cache evicts values beyond this number.
     *
     * @param values the maximum number of values, at least 1
     * @return the options
     */
    public CacheOptions<K, V> maximumSize(long values) {
        return maximumWeight(values, (key, value) -> 1);
    }

    /**
     * Limits the total weight of the values. The cache evicts values beyond this weight. A value
     * that weighs more than the maximum is not stored.
     *
     * @param <K1> the type of the keys
     * @param <V1> the type of the values
     * @param weight the maximum total weight, at least 1
     * @param weigher returns the weight of a value, for example its size in bytes
     * @return the options
     */
    public <K1 extends K, V1 extends V> CacheOptions<K1, V1> maximumWeight(
            long weight, Weigher<? super K1, ? super V1> weigher) {
        if (weight < 1) {
            throw new IllegalArgumentException("the maximum must be at least 1: " + weight);
        }
        CacheOptions<K1, V1> copy = copy();
        copy.maximumWeight = weight;
        copy.weigher = Objects.requireNonNull(weigher, "weigher");
        return copy;
    }

    /**
     * Sets the time from the write of a value until the value expires.
     *
     * @param time more than 0, at most 100 years; null for never
     * @return the options
     */
    public CacheOptions<K, V> timeToLive(@Nullable Duration time) {
        CacheOptions<K, V> copy = copy();
        copy.timeToLive = checked("timeToLive", time);
        return copy;
    }

    /**
     * Sets the time to live of each value, including loaded values.
     *
     * @param <K1> the type of the keys
     * @param <V1> the type of the values
     * @param time returns the time from the write of a value until it expires: more than 0, at most
     *     100 years; null for {@link #timeToLive(Duration)}
     * @return the options
     */
    public <K1 extends K, V1 extends V> CacheOptions<K1, V1> timeToLiveOf(
            @Nullable BiFunction<? super K1, ? super V1, @Nullable Duration> time) {
        CacheOptions<K1, V1> copy = copy();
        copy.timeToLiveOf = time;
        return copy;
    }

    /**
     * Sets the time from the last read or write of a value until the value expires. Each read then
     * also reads the clock and stores the time.
     *
     * @param time more than 0, at most 100 years; null for never
     * @return the options
     */
    public CacheOptions<K, V> expireAfterAccess(@Nullable Duration time) {
        CacheOptions<K, V> copy = copy();
        copy.expireAfterAccess = checked("expireAfterAccess", time);
        return copy;
    }

    /**
     * Sets the time from the write of a value until {@link Cache#get(Object, Loader)} loads it
     * again. The first caller after that time runs its loader in the {@link #executor}. All other
     * callers get the current value without waiting. If the loader fails, the current value stays,
     * and the next attempt is due after the same time again.
     *
     * @param time more than 0, at most 100 years; null for never
     * @return the options
     */
    public CacheOptions<K, V> refreshAfterWrite(@Nullable Duration time) {
        CacheOptions<K, V> copy = copy();
        copy.refreshAfterWrite = checked("refreshAfterWrite", time);
        return copy;
    }

    /**
     * Sets the executor of refreshes. By default, the thread that reads a value also refreshes it,
     * and gets the new value. A caller that finds no value loads it without waiting for a refresh
     * that the executor has not begun.
     *
     * @param executor runs the loaders of refreshes
     * @return the options
     */
    public CacheOptions<K, V> executor(Executor executor) {
        CacheOptions<K, V> copy = copy();
        copy.executor = Objects.requireNonNull(executor, "executor");
        return copy;
    }

    /**
     * Sets the listener that is called for each value that leaves the cache.
     *
     * @param <K1> the type of the keys
     * @param <V1> the type of the values
     * @param listener the listener; null for none
     * @return the options
     */
    public <K1 extends K, V1 extends V> CacheOptions<K1, V1> removalListener(
            @Nullable RemovalListener<? super K1, ? super V1> listener) {
        CacheOptions<K1, V1> copy = copy();
        copy.removalListener = listener;
        return copy;
    }

    /**
     * Enables {@link Cache#statistics}. Each read then adds to a striped counter.
     *
     * @return the options
     */
    public CacheOptions<K, V> recordStatistics() {
        CacheOptions<K, V> copy = copy();
        copy.recordsStatistics = true;
        return copy;
    }

    /**
     * Sets the clock, for tests. The default is {@link System#nanoTime}.
     *
     * @param ns returns the time in nanoseconds since an arbitrary origin
     * @return the options
     */
    public CacheOptions<K, V> clock(LongSupplier ns) {
        CacheOptions<K, V> copy = copy();
        copy.clock = Objects.requireNonNull(ns, "clock");
        return copy;
    }

    /** Returns a copy, possibly with narrower types: the options only consume keys and values. */
    @SuppressWarnings("unchecked")
    private <K1 extends K, V1 extends V> CacheOptions<K1, V1> copy() {
        try {
            return (CacheOptions<K1, V1>) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    static @Nullable Duration checked(String name, @Nullable Duration time) {
        if (time != null
                && (time.isNegative() || time.isZero() || time.compareTo(MAX_TIME) > 0)) {
            throw new IllegalArgumentException(
                    name + " must be more than 0 and at most 100 years: " + time);
        }
        return time;
    }

    /** Returns true if the cache only stores values, so that it needs no {@link Policy}. */
    boolean isPlain() {
        return maximumWeight == UNBOUNDED
                && !expires()
                && refreshAfterWrite == null
                && removalListener == null
                && !recordsStatistics;
    }

    boolean expires() {
        return timeToLive != null || timeToLiveOf != null || expireAfterAccess != null;
    }

    long maximumWeight() {
        return maximumWeight;
    }

    Weigher<? super K, ? super V> weigher() {
        return weigher;
    }

    /** Returns the time to live of a value; null if it is unlimited. */
    @Nullable Duration timeToLive(K key, V value) {
        @Nullable Duration own =
                timeToLiveOf == null
                        ? null
                        : checked("timeToLiveOf", timeToLiveOf.apply(key, value));
        return own == null ? timeToLive : own;
    }

    /** Returns the default time to live; null if it is unlimited. */
    @Nullable Duration timeToLive() {
        return timeToLive;
    }

    @Nullable Duration expireAfterAccess() {
        return expireAfterAccess;
    }

    @Nullable Duration refreshAfterWrite() {
        return refreshAfterWrite;
    }

    Executor executor() {
        return executor;
    }

    @Nullable RemovalListener<? super K, ? super V> removalListener() {
        return removalListener;
    }

    boolean recordsStatistics() {
        return recordsStatistics;
    }

    LongSupplier clock() {
        return clock;
    }
}
