// SPDX-License-Identifier: Apache-2.0
package benchlab.cache;

import benchlab.appserver.cache.Cache;
import benchlab.appserver.cache.CacheOptions;
import benchlab.appserver.cache.ConcurrentCache;
import benchlab.appserver.cache.CopyOnWriteCache;
import benchlab.appserver.cache.ReadWriteLockCache;
import benchlab.appserver.cache.SynchronizedCache;
import benchlab.kit.Refusal;
import java.util.HashMap;
import java.util.Map;

/** A map that threads share. Key k has the value k + 1. */
interface SharedMap {
    /** Returns the value of the key, or null if the key is missing. */
    Long get(Long key);

    void put(Long key, Long value);

    int size();

    /** Returns true if the map never loses an entry. */
    default boolean isSafe() {
        return true;
    }

    /** Creates maps. */
    @FunctionalInterface
    interface Factory {
        /** Creates a map with the keys below {@code entries}. */
        SharedMap of(String scheme, int entries) throws Refusal;

        /** Creates a map like {@link #of}, but only for a scheme that supports writes. */
        default SharedMap written(String scheme, int entries) throws Refusal {
            if (scheme.equals("unsynchronized")) {
                throw Refusal.unsupported("the map " + scheme + " is read-only");
            }
            return of(scheme, entries);
        }
    }

    /** Returns the keys below {@code entries} with their values. */
    static Map<Long, Long> initial(int entries) {
        var initial = new HashMap<Long, Long>();
        for (long key = 0; key < entries; key++) {
            initial.put(key, key + 1);
        }
        return initial;
    }

    /**
     * Creates a map with the keys below {@code entries}, using a cache of appserver/java or a map
     * of the JDK.
     */
    static SharedMap of(String scheme, int entries) throws Refusal {
        Map<Long, Long> initial = initial(entries);
        CacheOptions<Object, Object> options = CacheOptions.UNLIMITED;
        return switch (scheme) {
            case "unsynchronized" -> new UnsynchronizedMap(initial);
            case "lock" -> new CachedMap(new SynchronizedCache<>(options), initial);
            case "read_write_lock" -> new CachedMap(new ReadWriteLockCache<>(options), initial);
            case "copy_on_write" -> new CachedMap(new CopyOnWriteCache<>(options), initial);
            case "unsafe_copy_on_write" -> new UnsafeCopiedMap(initial);
            case "concurrent" -> new CachedMap(new ConcurrentCache<>(options), initial);
            default -> throw Refusal.unsupported("unknown scheme " + scheme);
        };
    }

    /** A shared map that is a cache from appserver/java. */
    record CachedMap(Cache<Long, Long> cache) implements SharedMap {
        CachedMap(Cache<Long, Long> cache, Map<Long, Long> initial) {
            this(cache);
            cache.putAll(initial);
        }

        @Override
        public Long get(Long key) {
            return cache.get(key);
        }

        @Override
        public void put(Long key, Long value) {
            cache.put(key, value);
        }

        @Override
        public int size() {
            return cache.size();
        }
    }

    /** A map that is safe for one thread, or for multiple threads that only read. */
    record UnsynchronizedMap(Map<Long, Long> map) implements SharedMap {
        @Override
        public Long get(Long key) {
            return map.get(key);
        }

        @Override
        public void put(Long key, Long value) {
            map.put(key, value);
        }

        @Override
        public int size() {
            return map.size();
        }
    }

    /**
     * A map that loses updates: if two writers copy it at the same time, the last one wins.
     * volatile is not a lock.
     */
    final class UnsafeCopiedMap implements SharedMap {
        private volatile Map<Long, Long> map;

        UnsafeCopiedMap(Map<Long, Long> initial) {
            map = initial;
        }

        @Override
        public Long get(Long key) {
            return map.get(key);
        }

        @Override
        public void put(Long key, Long value) {
            var copy = new HashMap<>(map);
            copy.put(key, value);
            map = copy;
        }

        @Override
        public int size() {
            return map.size();
        }

        @Override
        public boolean isSafe() {
            return false;
        }
    }
}
