// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A cache based on {@link ConcurrentHashMap}. Reads take no lock and write nothing. Without limits,
 * writers of different keys rarely contend; with limits they wait for each other, because the
 * eviction order is shared.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class ConcurrentCache<K, V> extends LoadingCache<K, V> {

    private final CacheOptions options;
    private final ConcurrentHashMap<K, Entry<K, V>> entries = new ConcurrentHashMap<>();

    /** The eviction order, used only if there are limits. Its monitor then guards all writes. */
    private final WriteOrder<K, V> order = new WriteOrder<>();

    public ConcurrentCache(CacheOptions options) {
        this.options = Objects.requireNonNull(options, "options");
    }

    @Override
    public V get(K key) {
        return Entry.valueOf(entries.get(key), options);
    }

    @Override
    public int size() {
        return entries.size();
    }

    @Override
    void putEntry(K key, V value) {
        if (options.isLimited()) {
            synchronized (order) {
                putInOrder(key, value);
            }
        } else {
            entries.put(key, Entry.of(key, value, options));
        }
    }

    @Override
    void putEntries(Map<? extends K, ? extends V> all) {
        all.forEach(this::putEntry);
    }

    @Override
    V putIfAbsent(K key, V value) {
        if (options.isLimited()) {
            synchronized (order) {
                V present = get(key);
                if (present == null) {
                    putInOrder(key, value);
                }
                return present != null ? present : value;
            }
        } else {
            Entry<K, V> present = entries.putIfAbsent(key, Entry.of(key, value, options));
            return present != null ? present.value : value;
        }
    }

    /**
     * Evicts the oldest value before it adds a new one, so that readers never see more than the
     * maximum size.
     */
    private void putInOrder(K key, V value) {
        Entry<K, V> entry = Entry.of(key, value, options);
        removeExpired();
        if (entries.size() >= options.maximumSize() && !entries.containsKey(key)) {
            removeOldest();
        }
        removeFromOrder(entries.put(key, entry));
        order.add(entry);
    }

    private void removeOldest() {
        removeFromOrder(entries.remove(order.oldest().key));
    }

    private void removeFromOrder(Entry<K, V> entry) {
        if (entry != null) {
            order.remove(entry);
        }
    }

    @Override
    boolean removeEntry(K key) {
        if (options.isLimited()) {
            synchronized (order) {
                Entry<K, V> removed = entries.remove(key);
                removeFromOrder(removed);
                return Entry.valueOf(removed, options) != null;
            }
        } else {
            return entries.remove(key) != null;
        }
    }

    @Override
    void removeEntries() {
        synchronized (order) {
            order.clear();
            entries.clear();
        }
    }

    @Override
    public void removeExpired() {
        if (options.timeToLive() != null) {
            synchronized (order) {
                while (order.oldest() != null && order.oldest().isExpired(options)) {
                    removeOldest();
                }
            }
        }
    }
}
