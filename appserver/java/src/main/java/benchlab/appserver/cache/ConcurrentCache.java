// SPDX-License-Identifier: Apache-2.0
// A cache over ConcurrentHashMap.
package benchlab.appserver.cache;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Readers take no lock and write nothing. Without limits, writers of different keys seldom meet;
 * with limits they wait for each other, since there is one order in which entries leave.
 */
public final class ConcurrentCache<K, V> extends LoadingCache<K, V> {

    private final CacheOptions options;
    private final ConcurrentHashMap<K, Entry<V>> entries = new ConcurrentHashMap<>();

    /** The keys in the order of writing, if there are limits. Guards itself and the writes then. */
    private final Set<K> order = new LinkedHashSet<>();

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
    public void put(K key, V value) {
        if (options.isLimited()) {
            synchronized (order) {
                putInOrder(key, value);
            }
        } else {
            entries.put(key, Entry.of(value, options));
        }
    }

    @Override
    public void putAll(Map<? extends K, ? extends V> all) {
        all.forEach(this::put);
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
            Entry<V> present = entries.putIfAbsent(key, Entry.of(value, options));
            return present != null ? present.value() : value;
        }
    }

    /** The older value leaves before there is one too many: the bound holds for readers too. */
    private void putInOrder(K key, V value) {
        Entry<V> entry = Entry.of(value, options);
        removeExpired();
        if (!order.remove(Objects.requireNonNull(key, "key"))
                && order.size() == options.maximumSize()) {
            removeOldest();
        }
        order.add(key);
        entries.put(key, entry);
    }

    private void removeOldest() {
        Iterator<K> oldest = order.iterator();
        entries.remove(oldest.next());
        oldest.remove();
    }

    @Override
    boolean removeEntry(K key) {
        if (options.isLimited()) {
            synchronized (order) {
                order.remove(key);
                return Entry.valueOf(entries.remove(key), options) != null;
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
                Iterator<K> oldest = order.iterator();
                while (oldest.hasNext()) {
                    K key = oldest.next();
                    if (!entries.get(key).isExpired(options)) {
                        break;
                    }
                    entries.remove(key);
                    oldest.remove();
                }
            }
        }
    }
}
