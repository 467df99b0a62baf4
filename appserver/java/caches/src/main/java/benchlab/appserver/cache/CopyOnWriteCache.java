// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.Map;
import java.util.function.Function;

/**
 * A cache that is copied by every write. Reads take no lock and write nothing, and each sees a
 * consistent version of the cache. A write takes time and memory proportional to the size of the
 * cache, so use {@link #putAll} to store many values. Writers wait for each other, and each copies
 * the latest published version, so no update is lost.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class CopyOnWriteCache<K, V> extends LoadingCache<K, V> {

    private final CacheOptions options;
    private final Object writing = new Object();

    /** Not modified after it is published. */
    private volatile Table<K, V> table;

    public CopyOnWriteCache(CacheOptions options) {
        this.options = options;
        table = new Table<>(options);
    }

    @Override
    public V get(K key) {
        return table.get(key);
    }

    @Override
    public int size() {
        return table.size();
    }

    @Override
    void putEntry(K key, V value) {
        replace(
                copy -> {
                    copy.put(key, value);
                    return null;
                });
    }

    @Override
    void putEntries(Map<? extends K, ? extends V> entries) {
        replace(
                copy -> {
                    entries.forEach(copy::put);
                    return null;
                });
    }

    @Override
    V putIfAbsent(K key, V value) {
        return replace(copy -> copy.putIfAbsent(key, value));
    }

    @Override
    boolean removeEntry(K key) {
        synchronized (writing) {
            return table.contains(key) && replace(copy -> copy.remove(key));
        }
    }

    @Override
    void removeEntries() {
        synchronized (writing) {
            table = new Table<>(options);
        }
    }

    @Override
    public void removeExpired() {
        replace(
                copy -> {
                    copy.removeExpired();
                    return null;
                });
    }

    private <T> T replace(Function<Table<K, V>, T> change) {
        synchronized (writing) {
            var copy = new Table<>(table);
            T result = change.apply(copy);
            table = copy;
            return result;
        }
    }
}
