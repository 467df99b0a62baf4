// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds expired entries. Entries with the cache's default time to live expire in the order of their
 * writes, and need only a list. All other entries are in a radix heap (Ahuja, Mehlhorn, Orlin and
 * Tarjan, "Faster algorithms for the shortest path problem", Journal of the ACM 37 (2), 1990). The
 * number of an entry's list is the highest bit, counted from 1, in which the entry's time differs
 * from the heap's time. The heap's time never goes back. Adding and removing take constant time. As
 * its time approaches, an entry moves to a lower list, at most once for each bit.
 *
 * <p>A read does not move an entry. The entry is found at its old time, and {@link Policy} then
 * adds it again at its new time. Guarded by the writers' lock.
 */
final class ExpiryQueue<K, V> {

    private final Link<K, V> inOrder = Link.newList();
    private final List<Link<K, V>> heap = new ArrayList<>();
    private long heapTime;

    /** A bit set of the heap's lists. Bit n is set if list n may have entries. */
    private long used;

    ExpiryQueue() {
        for (int bit = 0; bit < Long.SIZE; bit++) {
            heap.add(Link.newList());
        }
    }

    void add(TrackedEntry<K, V> entry, long time) {
        if (entry.hasDefaultTime) {
            inOrder.append(entry.schedule());
        } else {
            addToHeap(entry, time);
        }
    }

    private void addToHeap(TrackedEntry<K, V> entry, long time) {
        entry.scheduledTime = time;
        int list = time <= heapTime ? 0 : Long.SIZE - Long.numberOfLeadingZeros(time ^ heapTime);
        heap.get(list).append(entry.schedule());
        used |= 1L << list;
    }

    void remove(TrackedEntry<K, V> entry) {
        if (entry.expires()) {
            entry.schedule().unlink();
        }
    }

    void clear() {
        for (Link<K, V> list : heap) {
            list.clear();
        }
        inOrder.clear();
    }

    /**
     * Returns an entry whose scheduled time has passed, or null if there is none. The entry stays
     * in the queue.
     */
    @Nullable TrackedEntry<K, V> due(long now) {
        TrackedEntry<K, V> oldest = inOrder.first();
        return oldest != null && oldest.deadline <= now ? oldest : dueInHeap(now);
    }

    private @Nullable TrackedEntry<K, V> dueInHeap(long now) {
        while (used != 0) {
            int list = Long.numberOfTrailingZeros(used);
            Link<K, V> links = heap.get(list);
            if (links.isEmpty()) {
                used &= ~(1L << list);
            } else if (list == 0) {
                return links.first();
            } else {
                // The earliest time that an entry of this list can have.
                long bit = 1L << list - 1;
                long earliest = (heapTime | bit - 1) + 1;
                if (earliest > now) {
                    return null;
                }
                heapTime = earliest;
                used &= ~(1L << list);
                distribute(links);
            }
        }
        return null;
    }

    private void distribute(Link<K, V> links) {
        for (var entry = links.first(); entry != null; entry = links.first()) {
            entry.schedule().unlink();
            addToHeap(entry, entry.scheduledTime);
        }
    }
}
