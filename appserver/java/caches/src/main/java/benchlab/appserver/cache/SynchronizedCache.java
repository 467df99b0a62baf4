// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.Map;

/**
 * A cache guarded by a monitor: one thread at a time reads or writes. Small, and fast if threads
 * rarely contend.
 */
public final class SynchronizedCache<K, V> extends LoadingCache<K, V> {

    /** Guarded by its own monitor. */
    private final Table<K, V> table;

    public SynchronizedCache(CacheOptions options) {
        table = new Table<>(options);
    }

    @Override
    public V get(K key) {
        synchronized (table) {
            return table.get(key);
        }
    }

    @Override
    void putEntry(K key, V value) {
        synchronized (table) {
            table.put(key, value);
        }
    }

    @Override
    void putEntries(Map<? extends K, ? extends V> entries) {
        synchronized (table) {
            entries.forEach(table::put);
        }
    }

    @Override
    V putIfAbsent(K key, V value) {
        synchronized (table) {
            return table.putIfAbsent(key, value);
        }
    }

    @Override
    boolean removeEntry(K key) {
        synchronized (table) {
            return table.remove(key);
        }
    }

    @Override
    void removeEntries() {
        synchronized (table) {
            table.clear();
        }
    }

    @Override
    public int size() {
        synchronized (table) {
            return table.size();
        }
    }

    @Override
    public void removeExpired() {
        synchronized (table) {
            table.removeExpired();
        }
    }
}
