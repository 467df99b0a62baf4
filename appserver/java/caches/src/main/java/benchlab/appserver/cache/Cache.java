// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A concurrent map; see {@link CacheOptions} for limits, expiry, refreshes and listeners. Keys and
 * values must not be null. The {@code equals} and {@code hashCode} of a key must not change.
 *
 * <ul>
 *   <li>No write is lost: a value stays until it is replaced, removed, expired or evicted.
 *   <li>Everything that a thread did before it put a value is visible to threads that get the
 *       value.
 *   <li>A bounded cache evicts values that are read rarely, by S3-FIFO (Yang et al., "FIFO queues
 *       are all you need for cache eviction", SOSP 2023).
 * </ul>
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public interface Cache<K, V> {

    /**
     * Returns the value of a key.
     *
     * @param key the key
     * @return the value, or null if there is none or it has expired
     */
    @Nullable V get(K key);

    /**
     * Returns the value of a key, loading it on a miss.
     *
     * <p>If multiple threads miss a key at the same time, one of these threads calls its loader,
     * and the other threads wait for the same value. No lock is held while the loader runs, and
     * threads that use other keys do not wait.
     *
     * <p>A loaded value is not stored if its key was put or removed, or the cache was cleared,
     * during the load, because the value may be older than that change. Calls after the change do
     * not get the loaded value. Threads that were already waiting get the loaded value, or the
     * key's newer value if there is one.
     *
     * <p>With {@link CacheOptions#refreshAfterWrite}, the call also refreshes a value that is due.
     *
     * <p>A failure is not cached: each waiting thread gets a {@link LoadException} with the loader's
     * exception as its cause, and the next call loads again.
     *
     * @param key the key
     * @param loader loads the value
     * @return the value
     * @throws LoadException if the loader threw an exception or returned null; if it requested the key
     *     that it is loading, directly or through other keys, caches and threads that wait for each
     *     other; or if this thread was interrupted while it waited for another thread's loader. In the
     *     last case the cause is an {@link InterruptedException}, and the interrupt flag stays set
     */
    V get(K key, Loader<? super K, ? extends V> loader);

    /**
     * Returns the value of a key, loading it on a miss, with a limit on the time to wait for
     * another thread's loader. The timeout does not limit a loader that this thread calls.
     *
     * @param key the key
     * @param loader loads the value
     * @param timeout the maximum time to wait
     * @return the value
     * @throws LoadException as for {@link #get(Object, Loader)}
     * @throws LoadTimeoutException if another thread did not load the value in time
     */
    V get(K key, Loader<? super K, ? extends V> loader, Duration timeout);

    /**
     * Stores a value, replacing the previous value of the key.
     *
     * @param key the key
     * @param value the value
     */
    void put(K key, V value);

    /**
     * Stores a value with its own time to live.
     *
     * @param key the key
     * @param value the value
     * @param timeToLive the time until the value expires, more than 0, at most 100 years; reads do
     *     not extend it
     * @throws IllegalStateException if no option of the cache sets an expiry, because reads then do
     *     not check for expired values
     */
    void put(K key, V value, Duration timeToLive);

    /**
     * Stores multiple values. This is atomic if the cache has a single lock or copies its map;
     * otherwise the values are stored one after another.
     *
     * @param entries the keys and values
     */
    void putAll(Map<? extends K, ? extends V> entries);

    /**
     * Removes the value of a key.
     *
     * @param key the key
     * @return true if the key had a value that had not expired
     */
    boolean remove(K key);

    /** Removes all values. */
    void clear();

    /**
     * Returns the number of values, including expired values that have not been removed yet.
     *
     * @return the number of values
     */
    int size();

    /**
     * Returns the total weight of the values, as {@link CacheOptions#maximumWeight} limits it.
     *
     * @return the weight; the number of values if the cache has no maximum
     */
    long weight();

    /**
     * Returns the counts of reads, loads and removals.
     *
     * @return the counts; all are 0 without {@link CacheOptions#recordStatistics}
     */
    CacheStatistics statistics();

    /**
     * Removes expired values. Every write also removes them, so this method is useful only if the
     * application does not write for a long time.
     */
    void removeExpired();
}
