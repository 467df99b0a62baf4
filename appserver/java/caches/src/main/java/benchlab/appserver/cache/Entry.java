// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.Objects;

/**
 * A key and its value. The fields are final, so a thread sees a complete entry even if the entry was
 * published through a data race.
 */
class Entry<K, V> {

    final K key;
    final V value;

    Entry(K key, V value) {
        this.key = Objects.requireNonNull(key, "key");
        this.value = Objects.requireNonNull(value, "value");
    }
}
