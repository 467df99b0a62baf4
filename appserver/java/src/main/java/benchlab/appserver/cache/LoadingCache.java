// SPDX-License-Identifier: Apache-2.0
// What all caches do alike: load once, and forget what is being loaded.
package benchlab.appserver.cache;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/** A cache whose subclasses keep the entries, and which sees to it that they are loaded once. */
abstract sealed class LoadingCache<K, V> implements Cache<K, V>
        permits SynchronizedCache, ReadWriteLockCache, CopyOnWriteCache, ConcurrentCache {

    /** The loads under way whose values are still wanted. */
    private final ConcurrentHashMap<K, Load<V>> loads = new ConcurrentHashMap<>();

    /** The value that is there afterwards. */
    abstract V putIfAbsent(K key, V value);

    abstract boolean removeEntry(K key);

    abstract void removeEntries();

    @Override
    public final V get(K key, Loader<? super K, ? extends V> loader) throws InterruptedException {
        V value = get(key);
        return value != null ? value : load(key, loader);
    }

    private V load(K key, Loader<? super K, ? extends V> loader) throws InterruptedException {
        var load = new Load<V>();
        Load<V> running = loads.putIfAbsent(key, load);
        if (running != null) {
            return running.await();
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
     * Under the lock of the key's bin: it either comes before a removal, and is removed, or is not
     * kept.
     */
    private V keep(K key, Load<V> load, V loaded) {
        var result = new AtomicReference<>(loaded);
        loads.computeIfPresent(
                key,
                (k, current) -> {
                    if (current == load) {
                        result.setPlain(putIfAbsent(key, loaded));
                    }
                    return current;
                });
        return result.getPlain();
    }

    @Override
    public final boolean remove(K key) {
        loads.remove(key); // First: a load that is still wanted after this has its value removed.
        return removeEntry(key);
    }

    @Override
    public final void clear() {
        loads.clear();
        removeEntries();
    }
}
