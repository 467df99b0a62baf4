// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a cache, its expiry and its statistics. Methods with a map parameter change the
 * map, and are guarded by the writers' lock; all entries of the map must be {@link TrackedEntry}
 * objects. If a key's {@code hashCode} or {@code equals} throws, the map and the policy remain
 * consistent.
 */
final class Policy<K, V> {

    private final CacheOptions<? super K, ? super V> options;
    private final long origin;
    private final boolean usesClock;
    private final long timeToAccess; // ns; 0 if reads do not affect expiry
    private final long refreshInterval; // ns; 0 for never

    /** The eviction order; null if the cache is not bounded. */
    private final @Nullable Eviction<K, V> eviction;

    private final ExpiryQueue<K, V> expiry = new ExpiryQueue<>();

    /** The statistics; null if they are not recorded. */
    private final @Nullable Counts counts;

    private static final class Counts {
        final LongAdder hits = new LongAdder();
        final LongAdder misses = new LongAdder();
        final LongAdder loads = new LongAdder();
        final LongAdder loadFailures = new LongAdder();
        final LongAdder evictions = new LongAdder();
        final LongAdder evictedWeight = new LongAdder();
        final LongAdder expirations = new LongAdder();
    }

    Policy(CacheOptions<? super K, ? super V> options) {
        this.options = options;
        origin = options.clock().getAsLong();
        timeToAccess = nanoseconds(options.expireAfterAccess());
        refreshInterval = nanoseconds(options.refreshAfterWrite());
        usesClock = options.expires() || refreshInterval > 0;
        eviction =
                options.maximumWeight() == CacheOptions.UNBOUNDED
                        ? null
                        : new Eviction<>(options.maximumWeight());
        counts = options.recordsStatistics() ? new Counts() : null;
    }

    /** Returns the policy of a cache, or null if it needs none. */
    static <K, V> @Nullable Policy<K, V> of(CacheOptions<? super K, ? super V> options) {
        return options.isPlain() ? null : new Policy<>(options);
    }

    private static long nanoseconds(@Nullable Duration time) {
        return time == null ? 0 : time.toNanos();
    }

    CacheOptions<? super K, ? super V> options() {
        return options;
    }

    /** Returns the nanoseconds since the creation of the policy. The clock may wrap around. */
    private long now() {
        return usesClock ? options.clock().getAsLong() - origin : 0;
    }

    // Reads, which take no lock

    /** Returns the value of an entry, or null if there is no entry or it has expired. */
    @Nullable V valueOf(@Nullable Entry<K, V> entry) {
        return entry == null || isExpired((TrackedEntry<K, V>) entry) ? null : entry.value;
    }

    private boolean isExpired(TrackedEntry<K, V> entry) {
        return entry.expires() && expiryOf(entry) <= now();
    }

    private long expiryOf(TrackedEntry<K, V> entry) {
        return timeToAccess == 0
                ? entry.deadline
                : Math.min(entry.deadline, entry.accessed() + timeToAccess);
    }

    /** Returns the value of an entry like {@link #valueOf}, and records the read. */
    @Nullable V read(@Nullable Entry<K, V> found) {
        @Nullable TrackedEntry<K, V> entry = (TrackedEntry<K, V>) found;
        if (entry != null && entry.expires()) {
            long now = now();
            if (expiryOf(entry) <= now) {
                entry = null;
            } else if (timeToAccess > 0) {
                entry.setAccessed(now);
            }
        }
        if (entry != null && eviction != null) {
            entry.countRead();
        }
        if (counts != null) {
            (entry != null ? counts.hits : counts.misses).increment();
        }
        return entry == null ? null : entry.value;
    }

    /**
     * Returns true if the caller should refresh the value. Calls within the next interval return
     * false, so that only one thread refreshes it.
     */
    boolean takeRefresh(Entry<K, V> found) {
        var entry = (TrackedEntry<K, V>) found;
        if (refreshInterval == 0) {
            return false;
        }
        long now = now();
        long due = entry.refreshDue();
        return due <= now && entry.compareAndSetRefreshDue(due, now + refreshInterval);
    }

    // Writes

    /**
     * Creates an entry. Must be called outside of locks, because it calls functions of the
     * application.
     */
    TrackedEntry<K, V> newEntry(K key, V value, @Nullable Duration ownTimeToLive) {
        @Nullable Duration time = ownTimeToLive != null ? ownTimeToLive : options.timeToLive(key, value);
        int weight = options.weigher().weigh(key, value);
        if (weight < 0) {
            throw new IllegalArgumentException("the weight must not be negative: " + weight);
        }
        long now = now();
        return new TrackedEntry<>(
                key,
                value,
                weight,
                eviction != null,
                time == null ? TrackedEntry.NEVER : now + time.toNanos(),
                timeToAccess == 0 && time != null && time.equals(options.timeToLive()),
                time != null || timeToAccess > 0,
                now,
                now + refreshInterval);
    }

    void put(Map<K, Entry<K, V>> map, TrackedEntry<K, V> entry, Removals<K, V> removals) {
        removeExpired(map, removals);
        if (eviction != null && !eviction.fits(entry)) {
            remove(map, entry.key, RemovalCause.REPLACED, removals);
            removals.add(entry, RemovalCause.SIZE);
            return;
        }
        var replaced = (TrackedEntry<K, V>) map.get(entry.key);
        if (eviction != null && replaced != null) {
            eviction.remove(replaced); // Must not be evicted: a reader would miss the key.
        }
        try {
            if (eviction != null) {
                makeRoom(map, entry, removals);
            }
            map.put(entry.key, entry);
        } catch (Throwable e) {
            if (eviction != null && replaced != null) {
                eviction.append(replaced);
            }
            throw e;
        }
        if (replaced != null) {
            expiry.remove(replaced);
            removals.add(replaced, RemovalCause.REPLACED);
        }
        if (eviction != null && replaced != null) {
            eviction.addReplacement(entry, replaced);
        } else if (eviction != null) {
            eviction.add(entry);
        }
        schedule(entry);
    }

    private void schedule(TrackedEntry<K, V> entry) {
        if (entry.expires()) {
            expiry.add(entry, expiryOf(entry));
        }
    }

    private void makeRoom(
            Map<K, Entry<K, V>> map, TrackedEntry<K, V> entry, Removals<K, V> removals) {
        Eviction<K, V> limited = Objects.requireNonNull(eviction);
        while (limited.isFullFor(entry)) {
            TrackedEntry<K, V> victim = limited.victim();
            removeEntry(map, victim, RemovalCause.SIZE, removals);
            limited.remember(victim);
        }
    }

    /** Removes the entry of a key. Returns true if it had not expired. */
    boolean remove(
            Map<K, Entry<K, V>> map, K key, RemovalCause cause, Removals<K, V> removals) {
        var removed = (TrackedEntry<K, V>) map.remove(key);
        if (removed == null) {
            return false;
        }
        boolean isExpired = isExpired(removed);
        forget(removed, isExpired ? RemovalCause.EXPIRED : cause, removals);
        return !isExpired;
    }

    private void removeEntry(
            Map<K, Entry<K, V>> map,
            TrackedEntry<K, V> entry,
            RemovalCause cause,
            Removals<K, V> removals) {
        map.remove(entry.key);
        forget(entry, cause, removals);
    }

    private void forget(TrackedEntry<K, V> entry, RemovalCause cause, Removals<K, V> removals) {
        if (eviction != null) {
            eviction.remove(entry);
        }
        expiry.remove(entry);
        removals.add(entry, cause);
    }

    /** Returns true if {@link #removeExpired} has entries to check. */
    boolean hasDue() {
        return options.expires() && expiry.due(now()) != null;
    }

    void removeExpired(Map<K, Entry<K, V>> map, Removals<K, V> removals) {
        if (!options.expires()) {
            return;
        }
        long now = now();
        TrackedEntry<K, V> due = expiry.due(now);
        while (due != null) {
            if (expiryOf(due) <= now) {
                removeEntry(map, due, RemovalCause.EXPIRED, removals);
            } else { // It was read.
                expiry.remove(due);
                schedule(due);
            }
            due = expiry.due(now);
        }
    }

    void clear(Map<K, Entry<K, V>> map, Removals<K, V> removals) {
        for (Entry<K, V> each : map.values()) {
            var entry = (TrackedEntry<K, V>) each;
            removals.add(
                    entry, isExpired(entry) ? RemovalCause.EXPIRED : RemovalCause.EXPLICIT);
        }
        map.clear();
        forgetAll();
    }

    private void forgetAll() {
        expiry.clear();
        if (eviction != null) {
            eviction.clear();
        }
    }

    /** Makes the policy consistent with {@code entries} after a write was undone. */
    void rebuild(Collection<Entry<K, V>> entries) {
        forgetAll();
        for (Entry<K, V> each : entries) {
            var entry = (TrackedEntry<K, V>) each;
            if (eviction != null) {
                entry.order().unlink();
                eviction.append(entry);
            }
            expiry.remove(entry);
            schedule(entry);
        }
    }

    /** Returns the total weight; -1 if the cache is not bounded. */
    long weight() {
        return eviction == null ? -1 : eviction.weight();
    }

    // Statistics

    void count(TrackedEntry<K, V> removed, RemovalCause cause) {
        if (counts != null && cause == RemovalCause.SIZE) {
            counts.evictions.increment();
            counts.evictedWeight.add(removed.weight);
        } else if (counts != null && cause == RemovalCause.EXPIRED) {
            counts.expirations.increment();
        }
    }

    void countLoad(boolean hasFailed) {
        if (counts != null) {
            (hasFailed ? counts.loadFailures : counts.loads).increment();
        }
    }

    CacheStatistics statistics() {
        return counts == null
                ? CacheStatistics.NONE
                : new CacheStatistics(
                        counts.hits.sum(),
                        counts.misses.sum(),
                        counts.loads.sum(),
                        counts.loadFailures.sum(),
                        counts.evictions.sum(),
                        counts.evictedWeight.sum(),
                        counts.expirations.sum());
    }
}
