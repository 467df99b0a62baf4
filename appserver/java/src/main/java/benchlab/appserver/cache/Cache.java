// SPDX-License-Identifier: Apache-2.0
// A map with limits that threads share.
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.Map;

/**
 * A concurrent map with limits: {@link CacheOptions}. Keys and values must not be null. The {@code
 * equals} and {@code hashCode} of a key must not change.
 *
 * <ul>
 *   <li>No write is lost: a value stays until it is replaced, removed, expired or evicted.
 *   <li>Everything that a thread did before it put a value is visible to threads that get it.
 *   <li>Reading changes nothing: the entry that was written first is evicted, however often it was
 *       read. If that causes too many misses, use a cache that counts reads.
 * </ul>
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public sealed interface Cache<K, V> permits LoadingCache {

    /**
     * Gets the value of a key.
     *
     * @param key the key
     * @return the value; null if there is none or it has expired
     */
    V get(K key);

    /**
     * Gets the value of a key. If there is none, loads and puts it.
     *
     * <p>If multiple threads miss a key at the same time, one of them calls its loader, and the others
     * wait for the same value. No lock is held meanwhile, and threads that use other keys do not
     * wait.
     *
     * <p>A value is not kept if its key was put or removed, or the cache was cleared, while it was
     * loading, since it may be older than that change. Calls after the change do not get it. Threads
     * that waited already get it, unless there is another value by then, which they get instead.
     *
     * <p>A failure is not kept: each thread that waited gets a {@link LoadException} with the
     * exception of the loader as its cause, and the next call loads again.
     *
     * @param key the key
     * @param loader loads the value
     * @return the value
     * @throws LoadException if the loader threw an exception or returned null, if it asked, directly
     *     or through other keys, caches and threads that wait for each other, for the key that it
     *     is loading, or if the thread is interrupted while it waits for another thread's
     *     loader: then the cause is an {@link InterruptedException}, and the thread keeps its
     *     interrupt flag
     */
    V get(K key, Loader<? super K, ? extends V> loader);

    /**
     * Gets the value of a key, with a limit on the time to wait for another thread's loader. The
     * timeout does not limit a loader that this thread calls.
     *
     * @param key the key
     * @param loader loads the value
     * @param timeout the maximum time to wait
     * @return the value
     * @throws LoadException as above
     * @throws LoadTimeoutException if another thread did not load the value in time
     */
    V get(K key, Loader<? super K, ? extends V> loader, Duration timeout);

    /**
     * Puts a value, or replaces the one of that key.
     *
     * @param key the key
     * @param value the value
     */
    void put(K key, V value);

    /**
     * Puts multiple values: at once if the cache has one lock or copies its map, else one after the
     * other.
     *
     * @param entries the keys and values
     */
    void putAll(Map<? extends K, ? extends V> entries);

    /**
     * Removes the value of a key.
     *
     * @param key the key
     * @return true if there was one that had not expired
     */
    boolean remove(K key);

    /** Removes all values. */
    void clear();

    /**
     * The number of values, including expired ones that have not been removed yet.
     *
     * @return the number of values
     */
    int size();

    /**
     * Removes expired values. Each write does so, too: call this if nothing is written for a long
     * time.
     */
    void removeExpired();
}
