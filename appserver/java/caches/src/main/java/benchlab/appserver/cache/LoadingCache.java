// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Ensures that each value is loaded once. Subclasses store the entries. */
abstract sealed class LoadingCache<K, V> implements Cache<K, V>
        permits SynchronizedCache, ReadWriteLockCache, CopyOnWriteCache, ConcurrentCache {

    static final long FOREVER = Long.MAX_VALUE; // ns

    /** Loads in progress whose keys have not been changed since they began. */
    private final ConcurrentHashMap<K, Load<V>> loads = new ConcurrentHashMap<>();

    abstract void putEntry(K key, V value);

    abstract void putEntries(Map<? extends K, ? extends V> entries);

    /** Stores a value if the key has none. Returns the value that the key then has. */
    abstract V putIfAbsent(K key, V value);

    abstract boolean removeEntry(K key);

    abstract void removeEntries();

    @Override
    public final V get(K key, Loader<? super K, ? extends V> loader) {
        return get(key, loader, FOREVER);
    }

    @Override
    public final V get(K key, Loader<? super K, ? extends V> loader, Duration timeout) {
        return get(key, loader, Math.max(0, TimeUnit.NANOSECONDS.convert(timeout)));
    }

    private V get(K key, Loader<? super K, ? extends V> loader, long timeout) {
        V value = get(key);
        return value != null ? value : load(key, loader, timeout);
    }

    private V load(K key, Loader<? super K, ? extends V> loader, long timeout) {
        var load = new Load<V>();
        Load<V> running = loads.putIfAbsent(key, load);
        if (running != null) {
            return running.await(timeout);
        }
        try {
            V present = get(key); // Another load may have finished since the caller's miss.
            return load.succeed(present != null ? present : keep(key, load, call(key, loader)));
        } catch (Throwable e) {
            throw load.fail(e);
        } finally {
            loads.remove(key, load);
        }
    }

    private V call(K key, Loader<? super K, ? extends V> loader) throws Exception {
        V value = loader.load(key);
        if (value == null) {
            throw new NullPointerException("the loader returned null");
        }
        return value;
    }

    /**
     * Stores a loaded value unless its key was changed during the load. Runs under the lock of the
     * key's bin: a later change replaces or removes the value, and after an earlier change the
     * value is not stored. Returns the key's current value, which is newer, or the loaded value if
     * the key has none.
     */
    private V keep(K key, Load<V> load, V loaded) {
        var kept = new AtomicReference<V>();
        loads.computeIfPresent(
                key,
                (k, current) -> {
                    if (current == load) {
                        kept.setPlain(putIfAbsent(key, loaded));
                    }
                    return current;
                });
        V value = kept.getPlain() != null ? kept.getPlain() : get(key);
        return value != null ? value : loaded;
    }

    // Changes cancel the loads first: if a load completes anyway, its value is replaced or removed
    // by the change.

    @Override
    public final void put(K key, V value) {
        loads.remove(key);
        putEntry(key, value);
    }

    @Override
    public final void putAll(Map<? extends K, ? extends V> entries) {
        entries.keySet().forEach(loads::remove);
        putEntries(entries);
    }

    @Override
    public final boolean remove(K key) {
        loads.remove(key);
        return removeEntry(key);
    }

    @Override
    public final void clear() {
        loads.clear();
        removeEntries();
    }
}
