// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache guarded by a read-write lock. Threads read concurrently, and a writer waits for them.
 * Readers still write to the lock, which causes contention between processors; the lock pays off
 * only where reads are slow, as with a slow {@code equals}.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class ReadWriteLockCache<K, V> extends LoadingCache<K, V> {

    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final Table<K, V> table = new Table<>(new HashMap<>(), policy);

    /**
     * Creates a cache.
     *
     * @param options the limits and features of the cache
     */
    public ReadWriteLockCache(CacheOptions<? super K, ? super V> options) {
        super(options);
    }

    @Override
    public @Nullable V get(K key) {
        return read(find(key));
    }

    @Override
    @Nullable Entry<K, V> find(K key) {
        Objects.requireNonNull(key, "key");
        Lock reading = lock.readLock();
        reading.lock();
        try {
            return table.map().get(key);
        } finally {
            reading.unlock();
        }
    }

    @Override
    public int size() {
        return locked(lock.readLock(), table.map()::size);
    }

    @Override
    void putEntry(Entry<K, V> entry, Removals<K, V> removals) {
        write(() -> table.put(entry, removals));
    }

    @Override
    void putEntries(Map<K, Entry<K, V>> entries, Removals<K, V> removals) {
        write(() -> entries.values().forEach(entry -> table.put(entry, removals)));
    }

    @Override
    Entry<K, V> putIfAbsent(Entry<K, V> entry, Removals<K, V> removals) {
        return locked(lock.writeLock(), () -> table.putIfAbsent(entry, removals));
    }

    @Override
    boolean removeEntry(K key, Removals<K, V> removals) {
        return locked(lock.writeLock(), () -> table.remove(key, removals));
    }

    @Override
    void removeEntries(Removals<K, V> removals) {
        write(() -> table.clear(removals));
    }

    @Override
    void removeExpired(Removals<K, V> removals) {
        write(() -> table.removeExpired(removals));
    }

    private void write(Runnable change) {
        locked(
                lock.writeLock(),
                () -> {
                    change.run();
                    return null;
                });
    }

    private static <T> T locked(Lock lock, Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }
}
