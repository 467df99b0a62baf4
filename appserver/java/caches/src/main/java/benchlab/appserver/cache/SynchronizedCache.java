// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A cache guarded by a monitor: one thread at a time reads or writes. Small, and fast if threads
 * rarely contend.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class SynchronizedCache<K, V> extends LoadingCache<K, V> {

    /** The entries, guarded by the table's own monitor. */
    private final Table<K, V> table = new Table<>(new HashMap<>(), policy);

    /**
     * Creates a cache.
     *
     * @param options the limits and features of the cache
     */
    public SynchronizedCache(CacheOptions<? super K, ? super V> options) {
        super(options);
    }

    @Override
    public @Nullable V get(K key) {
        return read(find(key));
    }

    @Override
    @Nullable Entry<K, V> find(K key) {
        Objects.requireNonNull(key, "key");
        synchronized (table) {
            return table.map().get(key);
        }
    }

    @Override
    void putEntry(Entry<K, V> entry, Removals<K, V> removals) {
        synchronized (table) {
            table.put(entry, removals);
        }
    }

    @Override
    void putEntries(Map<K, Entry<K, V>> entries, Removals<K, V> removals) {
        synchronized (table) {
            entries.values().forEach(entry -> table.put(entry, removals));
        }
    }

    @Override
    Entry<K, V> putIfAbsent(Entry<K, V> entry, Removals<K, V> removals) {
        synchronized (table) {
            return table.putIfAbsent(entry, removals);
        }
    }

    @Override
    boolean removeEntry(K key, Removals<K, V> removals) {
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
    public int size() {
        synchronized (table) {
            return table.map().size();
        }
    }

    @Override
    void removeExpired(Removals<K, V> removals) {
        synchronized (table) {
            table.removeExpired(removals);
        }
    }
}
