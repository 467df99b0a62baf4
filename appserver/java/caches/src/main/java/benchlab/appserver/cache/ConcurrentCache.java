// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A cache based on {@link ConcurrentHashMap}. Reads take no lock; they write at most a counter of
 * the entry and, with {@code expireAfterAccess}, the time of the read. With {@link
 * CacheOptions#UNLIMITED}, writers of different keys rarely contend; with any option they wait for
 * each other, because the eviction order is shared.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class ConcurrentCache<K, V> extends LoadingCache<K, V> {

    private final ConcurrentHashMap<K, Entry<K, V>> entries = new ConcurrentHashMap<>();

    /**
     * Writes to {@code entries}. If there is a policy, the monitor of this table guards the writes.
     */
    private final Table<K, V> table = new Table<>(entries, policy);

    /**
     * Creates a cache.
     *
     * @param options the limits and features of the cache
     */
    public ConcurrentCache(CacheOptions<? super K, ? super V> options) {
        super(options);
    }

    @Override
    public @Nullable V get(K key) {
        return read(entries.get(key));
    }

    @Override
    public int size() {
        return entries.size();
    }

    @Override
    @Nullable Entry<K, V> find(K key) {
        return entries.get(key);
    }

    @Override
    void putEntry(Entry<K, V> entry, Removals<K, V> removals) {
        if (policy == null) {
            table.put(entry, removals);
        } else {
            synchronized (table) {
                table.put(entry, removals);
            }
        }
    }

    @Override
    void putEntries(Map<K, Entry<K, V>> all, Removals<K, V> removals) {
        all.values().forEach(entry -> putEntry(entry, removals));
    }

    @Override
    Entry<K, V> putIfAbsent(Entry<K, V> entry, Removals<K, V> removals) {
        if (policy == null) {
            return table.putIfAbsent(entry, removals);
        }
        synchronized (table) {
            return table.putIfAbsent(entry, removals);
        }
    }

    @Override
    boolean removeEntry(K key, Removals<K, V> removals) {
        if (policy == null) {
            return table.remove(key, removals);
        }
        synchronized (table) {
            return table.remove(key, removals);
        }
    }

    @Override
    void removeEntries(Removals<K, V> removals) {
        synchronized (table) {
            table.clear(removals);
        }
    }

    @Override
    void removeExpired(Removals<K, V> removals) {
        synchronized (table) {
            table.removeExpired(removals);
        }
    }
}
