// SPDX-License-Identifier: Apache-2.0
// A cache whose readers never wait.
package benchlab.appserver.cache;

import java.util.Map;
import java.util.function.Function;

/**
 * Readers take no lock and write nothing; each sees one whole version of the cache. A write copies
 * all entries, so that it takes time and memory in proportion to the size: use {@link #putAll} for
 * many. Writers wait for each other, and each copies what the one before it has published: none
 * loses another one's change.
 */
public final class CopyOnWriteCache<K, V> extends LoadingCache<K, V> {

    private final CacheOptions options;
    private final Object writing = new Object();

    /** Never changed once it is here. */
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
