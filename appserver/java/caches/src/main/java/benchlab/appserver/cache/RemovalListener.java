// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

/**
 * A listener that is called once for each value that leaves a cache.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
@FunctionalInterface
public interface RemovalListener<K, V> {

    /**
     * Handles the removal of a value. Runs on the thread whose write removed the value, after the
     * change and outside of all locks. Other threads may still use the value. An exception is
     * logged, and does not affect the write. Expired values are removed by the next write.
     *
     * @param key the key
     * @param value the value
     * @param cause why the value left the cache
     */
    void onRemoval(K key, V value, RemovalCause cause);
}
