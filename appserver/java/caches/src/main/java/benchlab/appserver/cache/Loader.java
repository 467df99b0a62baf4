// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

/**
 * Loads values that a cache does not contain.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
@FunctionalInterface
public interface Loader<K, V> {

    /**
     * Loads the value of a key.
     *
     * @param key the key
     * @return the value, not null
     * @throws Exception if the value cannot be loaded
     */
    V load(K key) throws Exception;
}
