// SPDX-License-Identifier: Apache-2.0
// The entries of a cache that is written by one thread at a time.
package benchlab.appserver.cache;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Not safe for threads. Reading changes nothing, so that threads may read at once while none
 * writes.
 */
final class Table<K, V> {

    private final CacheOptions options;

    /** In the order of writing, if order matters: entries also become too old in this order. */
    private final Map<K, Entry<V>> entries;

    Table(CacheOptions options) {
        this.options = Objects.requireNonNull(options, "options");
        entries = options.isLimited() ? new LinkedHashMap<>() : new HashMap<>();
    }

    Table(Table<K, V> original) {
        options = original.options;
        entries =
                options.isLimited()
                        ? new LinkedHashMap<>(original.entries)
                        : new HashMap<>(original.entries);
    }

    V get(K key) {
        return Entry.valueOf(entries.get(Objects.requireNonNull(key, "key")), options);
    }

    void put(K key, V value) {
        Entry<V> entry = Entry.of(value, options);
        if (options.isLimited()) {
            entries.remove(key); // Puts it at the end of the order.
        }
        entries.put(Objects.requireNonNull(key, "key"), entry);
        removeExpired();
        if (entries.size() > options.maximumSize()) {
            entries.remove(entries.keySet().iterator().next());
        }
    }

    /** The value that is there afterwards. */
    V putIfAbsent(K key, V value) {
        V present = get(key);
        if (present != null) {
            return present;
        }
        put(key, value);
        return value;
    }

    boolean remove(K key) {
        return Entry.valueOf(entries.remove(Objects.requireNonNull(key, "key")), options) != null;
    }

    int size() {
        return entries.size();
    }

    void removeExpired() {
        if (options.timeToLive() != null) {
            Iterator<Entry<V>> oldest = entries.values().iterator();
            while (oldest.hasNext() && oldest.next().isExpired(options)) {
                oldest.remove();
            }
        }
    }

    void clear() {
        entries.clear();
    }

    boolean contains(K key) {
        return entries.containsKey(Objects.requireNonNull(key, "key"));
    }
}
