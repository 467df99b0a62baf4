// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The entries of a cache. Not thread-safe for writes; because reads change nothing, threads may
 * read concurrently as long as none writes.
 */
final class Table<K, V> {

    private final CacheOptions options;

    private final Map<K, Entry<K, V>> entries;

    /** Used only if there are limits. Entries also expire in this order. */
    private final WriteOrder<K, V> order = new WriteOrder<>();

    Table(CacheOptions options) {
        this.options = Objects.requireNonNull(options, "options");
        entries = new HashMap<>();
    }

    Table(Table<K, V> original) {
        options = original.options;
        if (options.isLimited()) {
            entries = new HashMap<>(original.entries.size() * 4 / 3 + 2);
            for (Entry<K, V> e = original.order.oldest(); e != null; e = e.newer) {
                Entry<K, V> copy = e.copy();
                entries.put(copy.key, copy);
                order.add(copy);
            }
        } else {
            entries = new HashMap<>(original.entries);
        }
    }

    V get(K key) {
        return Entry.valueOf(entries.get(Objects.requireNonNull(key, "key")), options);
    }

    void put(K key, V value) {
        Entry<K, V> entry = Entry.of(key, value, options);
        removeFromOrder(entries.put(key, entry));
        if (options.isLimited()) {
            order.add(entry);
            removeExpired();
            if (entries.size() > options.maximumSize()) {
                removeOldest();
            }
        }
    }

    private void removeFromOrder(Entry<K, V> entry) {
        if (entry != null && options.isLimited()) {
            order.remove(entry);
        }
    }

    private void removeOldest() {
        removeFromOrder(entries.remove(order.oldest().key));
    }

    /** Stores a value if the key has none. Returns the value that the key then has. */
    V putIfAbsent(K key, V value) {
        V present = get(key);
        if (present != null) {
            return present;
        }
        put(key, value);
        return value;
    }

    boolean remove(K key) {
        Entry<K, V> removed = entries.remove(Objects.requireNonNull(key, "key"));
        removeFromOrder(removed);
        return Entry.valueOf(removed, options) != null;
    }

    int size() {
        return entries.size();
    }

    void removeExpired() {
        while (order.oldest() != null && order.oldest().isExpired(options)) {
            removeOldest();
        }
    }

    void clear() {
        entries.clear();
        order.clear();
    }

    boolean contains(K key) {
        return entries.containsKey(Objects.requireNonNull(key, "key"));
    }
}
