// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

/**
 * Weighs values, for {@link CacheOptions#maximumWeight}.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
@FunctionalInterface
public interface Weigher<K, V> {

    /**
     * Returns the weight of a value. It is called once for each write, outside of locks.
     *
     * @param key the key
     * @param value the value
     * @return the weight, at least 0; a value with the weight 0 is not evicted
     */
    int weigh(K key, V value);
}
