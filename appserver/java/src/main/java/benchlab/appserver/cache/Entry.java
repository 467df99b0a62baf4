// SPDX-License-Identifier: Apache-2.0
// A value in a cache, and until when it is one.
package benchlab.appserver.cache;

import java.util.Objects;

/** Final fields: whoever finds an entry sees it whole, however it was found. */
record Entry<V>(V value, long deadline) {

    Entry {
        Objects.requireNonNull(value, "value");
    }

    static <V> Entry<V> of(V value, CacheOptions options) {
        boolean ends = options.timeToLive() != null;
        return new Entry<>(
                value,
                ends ? options.clock().getAsLong() + options.timeToLive().toNanos() : 0);
    }

    /** The value of an entry, or null if there is none or it is too old. */
    static <V> V valueOf(Entry<V> entry, CacheOptions options) {
        return entry == null || entry.isExpired(options) ? null : entry.value;
    }

    /** Compares a difference, since the clock may wrap around. */
    boolean isExpired(CacheOptions options) {
        return options.timeToLive() != null && options.clock().getAsLong() - deadline >= 0;
    }
}
