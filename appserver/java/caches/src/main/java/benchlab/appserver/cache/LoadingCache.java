// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Ensures that each value is loaded once, and reports removals. Subclasses store the entries. */
abstract sealed class LoadingCache<K, V> implements Cache<K, V>
        permits SynchronizedCache, ReadWriteLockCache, CopyOnWriteCache, ConcurrentCache {

    static final long FOREVER = Long.MAX_VALUE; // ns

    /**
     * The limits and statistics; null if the cache only stores values. All entries are then plain
     * {@link Entry} objects.
     */
    final @Nullable Policy<K, V> policy;

    /** The loads in progress, and the refreshes to come, whose keys have not been changed since. */
    private final ConcurrentHashMap<K, Load<V>> loads = new ConcurrentHashMap<>();

    LoadingCache(CacheOptions<? super K, ? super V> options) {
        policy = Policy.of(Objects.requireNonNull(options, "options"));
    }

    /** Returns the entry of a key, even if it has expired; null if the key has no entry. */
    abstract @Nullable Entry<K, V> find(K key);

    abstract void putEntry(Entry<K, V> entry, Removals<K, V> removals);

    abstract void putEntries(Map<K, Entry<K, V>> entries, Removals<K, V> removals);

    /** Stores an entry if its key has no value. Returns the entry that the key then has. */
    abstract Entry<K, V> putIfAbsent(Entry<K, V> entry, Removals<K, V> removals);

    abstract boolean removeEntry(K key, Removals<K, V> removals);

    abstract void removeEntries(Removals<K, V> removals);

    abstract void removeExpired(Removals<K, V> removals);

    // Reads

    /**
     * Returns the value of an entry and records the read. Returns null if there is no entry or it
     * has expired.
     */
    final @Nullable V read(@Nullable Entry<K, V> entry) {
        if (policy != null) {
            return policy.read(entry);
        }
        return entry == null ? null : entry.value;
    }

    /** Returns the value of an entry like {@link #read}, but does not record the read. */
    final @Nullable V valueOf(@Nullable Entry<K, V> entry) {
        if (policy != null) {
            return policy.valueOf(entry);
        }
        return entry == null ? null : entry.value;
    }

    @Override
    public final V get(K key, Loader<? super K, ? extends V> loader) {
        return get(key, loader, FOREVER);
    }

    @Override
    public final V get(K key, Loader<? super K, ? extends V> loader, Duration timeout) {
        return get(key, loader, Math.max(0, TimeUnit.NANOSECONDS.convert(timeout)));
    }

    private V get(K key, Loader<? super K, ? extends V> loader, long timeout) {
        Entry<K, V> entry = find(key);
        V value = read(entry);
        if (entry == null || value == null) {
            return load(key, loader, timeout);
        } else if (policy != null && policy.takeRefresh(entry)) {
            return refresh(key, value, loader, policy);
        } else {
            return value;
        }
    }

    // Loads

    private V load(K key, Loader<? super K, ? extends V> loader, long timeout) {
        Load<V> load = loads.computeIfAbsent(key, k -> new Load<>());
        if (!load.begin()) {
            return load.await(timeout);
        }
        try {
            V present = valueOf(find(key)); // Another load may have finished since the miss.
            return load.succeed(
                    present != null ? present : keep(key, load, call(key, loader), false));
        } catch (Throwable e) {
            throw failed(key, load, e);
        } finally {
            loads.remove(key, load);
        }
    }

    /**
     * Ends a load with a failure. Removes it first: a thread that waits for it may call again as soon
     * as it has ended, and then loads again.
     */
    private LoadException failed(K key, Load<V> load, Throwable failure) {
        LoadException thrown;
        try {
            loads.remove(key, load);
        } finally {
            thrown = load.fail(failure);
        }
        return thrown;
    }

    /** Returns the new value if this thread has loaded it, otherwise the current value. */
    private V refresh(
            K key, V current, Loader<? super K, ? extends V> loader, Policy<K, V> policy) {
        var next = new Load<V>();
        Load<V> pending = loads.putIfAbsent(key, next);
        if (pending != null && pending.hasBegun()) {
            return current;
        }
        // The executor may have dropped the task of a pending load, so it gets another one.
        Load<V> load = pending == null ? next : pending;
        try {
            policy.options().executor().execute(() -> reload(key, load, loader));
        } catch (Throwable e) {
            loads.remove(key, next); // The next call may load again.
            if (!(e instanceof RejectedExecutionException)) {
                throw e;
            }
        }
        V present = valueOf(find(key));
        return present != null ? present : current;
    }

    private void reload(K key, Load<V> load, Loader<? super K, ? extends V> loader) {
        if (!load.begin()) {
            return; // Another task or a caller that found no value was first.
        }
        try {
            load.succeed(keep(key, load, call(key, loader), true));
        } catch (Throwable e) {
            failed(key, load, e); // Rethrows an Error.
        } finally {
            loads.remove(key, load);
        }
    }

    private V call(K key, Loader<? super K, ? extends V> loader) throws Exception {
        boolean hasFailed = true;
        try {
            V value = loader.load(key);
            if (value == null) {
                throw new NullPointerException("the loader returned null");
            }
            hasFailed = false;
            return value;
        } finally {
            if (policy != null) {
                policy.countLoad(hasFailed);
            }
        }
    }

    /**
     * Stores a loaded value unless its key was changed during the load. Runs under the lock of the
     * key's bin: a later change replaces or removes the value, and after an earlier change the
     * value is not stored. Returns the key's current value, or the loaded value if the key has
     * none.
     */
    private V keep(K key, Load<V> load, V loaded, boolean replaces) {
        var kept = new AtomicReference<V>();
        Entry<K, V> entry = newEntry(key, loaded, null);
        Removals<K, V> removals = newRemovals();
        try {
            loads.computeIfPresent(
                    key,
                    (k, current) -> {
                        if (current == load && replaces) {
                            putEntry(entry, removals);
                            kept.setPlain(loaded);
                        } else if (current == load) {
                            kept.setPlain(putIfAbsent(entry, removals).value);
                        }
                        return current;
                    });
        } finally {
            removals.report();
        }
        V value = kept.getPlain() != null ? kept.getPlain() : valueOf(find(key));
        return value != null ? value : loaded;
    }

    // Writes. Changes cancel the loads first: if a load completes anyway, its value is replaced or
    // removed by the change.

    private Entry<K, V> newEntry(K key, V value, @Nullable Duration timeToLive) {
        return policy == null
                ? new Entry<>(key, value)
                : policy.newEntry(
                        Objects.requireNonNull(key, "key"),
                        Objects.requireNonNull(value, "value"),
                        timeToLive);
    }

    private Removals<K, V> newRemovals() {
        return new Removals<>(policy);
    }

    @Override
    public final void put(K key, V value) {
        putNew(newEntry(key, value, null));
    }

    @Override
    public final void put(K key, V value, Duration timeToLive) {
        Objects.requireNonNull(timeToLive, "timeToLive");
        CacheOptions.checked("timeToLive", timeToLive);
        if (policy == null || !policy.options().expires()) {
            throw new IllegalStateException(
                    "the cache has no expiry: set timeToLive, timeToLiveOf or expireAfterAccess");
        }
        putNew(newEntry(key, value, timeToLive));
    }

    private void putNew(Entry<K, V> entry) {
        loads.remove(entry.key);
        Removals<K, V> removals = newRemovals();
        try {
            putEntry(entry, removals);
        } finally {
            removals.report();
        }
    }

    @Override
    public final void putAll(Map<? extends K, ? extends V> values) {
        var entries = new LinkedHashMap<K, Entry<K, V>>();
        values.forEach((key, value) -> entries.put(key, newEntry(key, value, null)));
        entries.keySet().forEach(loads::remove);
        Removals<K, V> removals = newRemovals();
        try {
            putEntries(entries, removals);
        } finally {
            removals.report();
        }
    }

    @Override
    public final boolean remove(K key) {
        loads.remove(key);
        Removals<K, V> removals = newRemovals();
        try {
            return removeEntry(key, removals);
        } finally {
            removals.report();
        }
    }

    @Override
    public final void clear() {
        loads.clear();
        Removals<K, V> removals = newRemovals();
        removeEntries(removals);
        removals.report();
    }

    @Override
    public final void removeExpired() {
        if (policy != null) {
            Removals<K, V> removals = newRemovals();
            try {
                removeExpired(removals);
            } finally {
                removals.report();
            }
        }
    }

    @Override
    public final long weight() {
        long weight = policy == null ? -1 : policy.weight();
        return weight < 0 ? size() : weight;
    }

    @Override
    public final CacheStatistics statistics() {
        return policy == null ? CacheStatistics.NONE : policy.statistics();
    }
}
