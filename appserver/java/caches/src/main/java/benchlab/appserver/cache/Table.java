// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes to a map, and applies the policy unless it is null. Thread-safe only if the map is
 * thread-safe and there is no policy.
 */
record Table<K, V>(Map<K, Entry<K, V>> map, @Nullable Policy<K, V> policy) {

    void put(Entry<K, V> entry, Removals<K, V> removals) {
        if (policy == null) {
            map.put(entry.key, entry);
        } else {
            policy.put(map, (TrackedEntry<K, V>) entry, removals);
        }
    }

    /** Stores an entry if its key has no value. Returns the entry that the key then has. */
    Entry<K, V> putIfAbsent(Entry<K, V> entry, Removals<K, V> removals) {
        if (policy == null) {
            Entry<K, V> present = map.putIfAbsent(entry.key, entry);
            return present != null ? present : entry;
        }
        Entry<K, V> present = map.get(entry.key);
        if (present != null && policy.valueOf(present) != null) {
            return present;
        }
        policy.put(map, (TrackedEntry<K, V>) entry, removals);
        return entry;
    }

    boolean remove(K key, Removals<K, V> removals) {
        return policy == null
                ? map.remove(key) != null
                : policy.remove(map, key, RemovalCause.EXPLICIT, removals);
    }

    void removeExpired(Removals<K, V> removals) {
        if (policy != null) {
            policy.removeExpired(map, removals);
        }
    }

    void clear(Removals<K, V> removals) {
        if (policy == null) {
            map.clear();
        } else {
            policy.clear(map, removals);
        }
    }
}
