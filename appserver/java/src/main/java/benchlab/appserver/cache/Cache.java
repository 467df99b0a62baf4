// SPDX-License-Identifier: Apache-2.0
// What every cache can do.
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.Map;

/**
 * A map that threads share, with limits: {@link CacheOptions}. Neither keys nor values are null;
 * keys have an {@code equals} and a {@code hashCode} that do not change.
 *
 * <ul>
 *   <li>No write is lost: a value stays until it is replaced, removed, too old or pushed out by the
 *       bound.
 *   <li>What a thread did before it put a value is visible to whoever gets that value.
 *   <li>Reading changes nothing, so that the bound pushes out the value that was written longest
 *       ago, however often it was read. Where that costs too many misses, take a cache that counts
 *       reads.
 * </ul>
 */
public sealed interface Cache<K, V> permits LoadingCache {

    /** The value of {@code key}, or null if there is none or it is too old. */
    V get(K key);

    /**
     * The value of {@code key}; if there is none, what {@code loader} makes of it, which is put.
     *
     * <p>Threads that miss the same key at once load it once: one calls its loader, the others wait
     * and get the same value. No lock is held meanwhile, and other keys are not held up.
     *
     * <p>A value that was loading when its key was put or removed, or the cache cleared, is not
     * kept, since it may be older than that change; who asks after the change does not get it. Those
     * who waited get it, unless there is another value by then: then they get that one.
     *
     * <p>A failure is not kept: all who waited get a {@link LoadException} of their own with
     * what the loader threw, and the next one who asks loads again.
     *
     * @throws LoadException if the loader threw an exception or returned null, or if it asked,
     *     directly or through other keys, caches and threads that wait for each other, for the key
     *     that it is loading, or if the thread is interrupted while it waits for another thread's
     *     loader: then the cause is an {@link InterruptedException}, and the thread keeps its
     *     interrupt flag
     */
    V get(K key, Loader<? super K, ? extends V> loader);

    /**
     * The same, but waits at most {@code timeout} for another thread's loader. A loader that this
     * thread calls has to keep to a limit of its own.
     *
     * @throws LoadTimeoutException if another thread did not load the value in time
     */
    V get(K key, Loader<? super K, ? extends V> loader, Duration timeout);

    /** Puts a value in place of any other. */
    void put(K key, V value);

    /**
     * Puts all at once where the scheme has one lock or one copy for it; else one after the other.
     */
    void putAll(Map<? extends K, ? extends V> entries);

    /** Removes the value of {@code key}; returns whether there was one that was not too old. */
    boolean remove(K key);

    /** Removes all values. */
    void clear();

    /** The number of values, including those that are too old and not removed yet. */
    int size();

    /**
     * Removes the values that are too old. Each write does so too, so that this is of use only
     * where values that nobody replaces must not stay in memory.
     */
    void removeExpired();
}
