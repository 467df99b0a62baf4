// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * A cache guarded by a read-write lock. Threads read concurrently, and a writer waits for them.
 * Readers still write to the lock, which causes contention between processors; the lock pays off
 * only where a read takes long, as with a slow {@code equals}.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class ReadWriteLockCache<K, V> extends LoadingCache<K, V> {

    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final Table<K, V> table;

    public ReadWriteLockCache(CacheOptions options) {
        table = new Table<>(options);
    }

    @Override
    public V get(K key) {
        Lock reading = lock.readLock();
        reading.lock();
        try {
            return table.get(key);
        } finally {
            reading.unlock();
        }
    }

    @Override
    public int size() {
        return locked(lock.readLock(), table::size);
    }

    @Override
    void putEntry(K key, V value) {
        write(() -> table.put(key, value));
    }

    @Override
    void putEntries(Map<? extends K, ? extends V> entries) {
        write(() -> entries.forEach(table::put));
    }

    @Override
    V putIfAbsent(K key, V value) {
        return locked(lock.writeLock(), () -> table.putIfAbsent(key, value));
    }

    @Override
    boolean removeEntry(K key) {
        return locked(lock.writeLock(), () -> table.remove(key));
    }

    @Override
    void removeEntries() {
        write(table::clear);
    }

    @Override
    public void removeExpired() {
        write(table::removeExpired);
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
