// SPDX-License-Identifier: Apache-2.0
// Where a cache gets what it does not have.
package benchlab.appserver.cache;

/** Makes the value of a key. */
@FunctionalInterface
public interface Loader<K, V> {

    /** The value, not null. */
    V load(K key) throws Exception;
}
