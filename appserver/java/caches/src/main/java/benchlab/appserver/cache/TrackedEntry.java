// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An entry of a cache with a {@link Policy}. Times are nanoseconds since the creation of the cache.
 */
final class TrackedEntry<K, V> extends Entry<K, V> {

    static final long NEVER = Long.MAX_VALUE;

    private static final VarHandle ACCESSED;
    private static final VarHandle REFRESH_DUE;

    static {
        try {
            var lookup = MethodHandles.lookup();
            ACCESSED = lookup.findVarHandle(TrackedEntry.class, "accessed", long.class);
            REFRESH_DUE = lookup.findVarHandle(TrackedEntry.class, "refreshDue", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The spread hash code of the key. */
    final int hash;

    final int weight;

    /** The time at which the entry expires, regardless of reads. */
    final long deadline;

    /**
     * True if the entry has the cache's default time to live, and reads do not extend it. Such
     * entries expire in the order of their writes.
     */
    final boolean hasDefaultTime;

    /**
     * The number of reads since the entry was last considered for eviction, up to {@link
     * Eviction#MAX_READS}. Concurrent increments may be lost.
     */
    byte reads;

    /** True if the entry is in the main queue of the {@link Eviction}. Guarded by the writers' lock. */
    boolean isInMain;

    /** Neighbors in a queue of the {@link Eviction}; null if the cache is not bounded. */
    private final @Nullable Link<K, V> order;

    /** Neighbors in the {@link ExpiryQueue}; null if the entry does not expire. */
    private final @Nullable Link<K, V> schedule;

    /**
     * The time at which the {@link ExpiryQueue} returns the entry. Guarded by the writers' lock.
     */
    long scheduledTime;

    private long accessed;
    private long refreshDue;

    TrackedEntry(
            K key,
            V value,
            int weight,
            boolean isBounded,
            long deadline,
            boolean hasDefaultTime,
            boolean expires,
            long now,
            long refreshDue) {
        super(key, value);
        int code = key.hashCode() * 0x9E3779B1;
        this.hash = code ^ code >>> 16;
        this.weight = weight;
        this.deadline = deadline;
        this.hasDefaultTime = hasDefaultTime;
        this.order = isBounded ? new Link<>(this) : null;
        this.schedule = expires ? new Link<>(this) : null;
        this.accessed = now;
        this.refreshDue = refreshDue;
    }

    Link<K, V> order() {
        return Objects.requireNonNull(order);
    }

    Link<K, V> schedule() {
        return Objects.requireNonNull(schedule);
    }

    boolean expires() {
        return schedule != null;
    }

    /** Counts a read. Does not write to an entry that already has the maximum count. */
    void countRead() {
        byte count = reads;
        if (count < Eviction.MAX_READS) {
            reads = (byte) (count + 1);
        }
    }

    long accessed() {
        return (long) ACCESSED.getOpaque(this);
    }

    void setAccessed(long now) {
        ACCESSED.setOpaque(this, now);
    }

    long refreshDue() {
        return (long) REFRESH_DUE.getOpaque(this);
    }

    /** Sets the time at which a refresh is due, unless another thread has changed it. */
    boolean compareAndSetRefreshDue(long expected, long time) {
        return REFRESH_DUE.compareAndSet(this, expected, time);
    }
}
