// SPDX-License-Identifier: Apache-2.0
// What all caches do alike: load once, and forget what is being loaded.
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** A cache whose subclasses keep the entries, and which sees to it that they are loaded once. */
abstract sealed class LoadingCache<K, V> implements Cache<K, V>
        permits SynchronizedCache, ReadWriteLockCache, CopyOnWriteCache, ConcurrentCache {

    static final long FOREVER = Long.MAX_VALUE; // ns

    /** The loads under way whose values are still wanted. */
    private final ConcurrentHashMap<K, Load<V>> loads = new ConcurrentHashMap<>();

    abstract void putEntry(K key, V value);

    abstract void putEntries(Map<? extends K, ? extends V> entries);

    /** The value that is there afterwards. */
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
            V present = get(key); // Another load may have ended since the caller missed.
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
     * Under the lock of the key's bin: it either comes before a change of the key, and is replaced
     * or removed by it, or is not kept. What was put since is newer.
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

    // First the loads: one that is still wanted after this has its value replaced or removed.

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
