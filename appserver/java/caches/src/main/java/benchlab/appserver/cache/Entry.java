// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.Objects;

/**
 * A value in a cache and its expiry time. The fields are final, so a thread sees a complete entry
 * even if the entry was published through a data race.
 */
final class Entry<K, V> {

    final K key;
    final V value;
    private final long deadline;

    /** The neighbors in the {@link WriteOrder}, if the entry is in one. */
    Entry<K, V> older;

    Entry<K, V> newer;

    private Entry(K key, V value, long deadline) {
        this.key = Objects.requireNonNull(key, "key");
        this.value = Objects.requireNonNull(value, "value");
        this.deadline = deadline;
    }

    static <K, V> Entry<K, V> of(K key, V value, CacheOptions options) {
        boolean ends = options.timeToLive() != null;
        return new Entry<>(
                key,
                value,
                ends ? options.clock().getAsLong() + options.timeToLive().toNanos() : 0);
    }

    /** Returns a copy that can be added to another {@link WriteOrder}. */
    Entry<K, V> copy() {
        return new Entry<>(key, value, deadline);
    }

    /** Returns the value of an entry, or null if there is no entry or it has expired. */
    static <V> V valueOf(Entry<?, V> entry, CacheOptions options) {
        return entry == null || entry.isExpired(options) ? null : entry.value;
    }

    /**
     * Returns true if the entry has expired. Compares a difference, because the clock may wrap
     * around.
     */
    boolean isExpired(CacheOptions options) {
        return options.timeToLive() != null && options.clock().getAsLong() - deadline >= 0;
    }
}
