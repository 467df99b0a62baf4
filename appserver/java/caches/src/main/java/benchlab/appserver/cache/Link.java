// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import org.jspecify.annotations.Nullable;

/**
 * A link of a circular list of entries. A list is a link without an entry: its {@code next} is the
 * first link, and its {@code previous} the last one. No method calls a key's {@code hashCode} or
 * {@code equals}, which could throw and leave an entry in the cache forever. Not thread-safe.
 */
final class Link<K, V> {

    /** The entry, or null if this link is a list. */
    final @Nullable TrackedEntry<K, V> entry;
    private Link<K, V> previous = this;
    private Link<K, V> next = this;

    Link(@Nullable TrackedEntry<K, V> entry) {
        this.entry = entry;
    }

    static <K, V> Link<K, V> newList() {
        return new Link<>(null);
    }

    boolean isEmpty() {
        return next == this;
    }

    /** Returns the first entry of this list, or null if it is empty. */
    @Nullable TrackedEntry<K, V> first() {
        return next.entry;
    }

    /** Appends a link, which must not be in a list, to this list. */
    void append(Link<K, V> link) {
        link.previous = previous;
        link.next = this;
        previous.next = link;
        previous = link;
    }

    /** Removes all links from this list. */
    void clear() {
        while (!isEmpty()) {
            next.unlink();
        }
    }

    /** Removes this link from its list, if it is in a list. */
    void unlink() {
        previous.next = next;
        next.previous = previous;
        previous = this;
        next = this;
    }
}
