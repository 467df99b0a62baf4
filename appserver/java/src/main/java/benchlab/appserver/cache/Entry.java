// SPDX-License-Identifier: Apache-2.0
// A value in a cache, and until when it is one.
package benchlab.appserver.cache;

import java.util.Objects;

/** Final fields: whoever finds an entry sees it whole, however it was found. */
final class Entry<K, V> {

    final K key;
    final V value;
    private final long deadline;

    /** In the order of writing, while it is in one. */
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

    /** The same for another order. */
    Entry<K, V> copy() {
        return new Entry<>(key, value, deadline);
    }

    /** The value of an entry, or null if there is none or it is too old. */
    static <V> V valueOf(Entry<?, V> entry, CacheOptions options) {
        return entry == null || entry.isExpired(options) ? null : entry.value;
    }

    /** Compares a difference, since the clock may wrap around. */
    boolean isExpired(CacheOptions options) {
        return options.timeToLive() != null && options.clock().getAsLong() - deadline >= 0;
    }
}
