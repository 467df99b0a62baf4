// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.Objects;

/**
 * Selects the entries to evict, by S3-FIFO (Yang et al., "FIFO queues are all you need for cache
 * eviction", SOSP 2023). New entries enter a small queue, which holds about a tenth of the weight.
 * An entry that is read more than once there moves on to the main queue. Any other entry is evicted
 * soon, and the hash of its key is remembered for a while. If the key is put again in that time,
 * its entry enters the main queue. The main queue counts up to three reads of an entry. An entry
 * that is first in this queue is evicted if its count is zero; otherwise it loses one read and
 * moves to the end. A scan of many keys therefore does not displace frequently read entries, and a
 * read only sets a counter of its entry.
 *
 * <p>Guarded by the writers' lock.
 */
final class Eviction<K, V> {

    static final int MAX_READS = 3;

    /**
     * The maximum number of entries to pass over in one eviction. It limits the time if almost all
     * entries have been read.
     */
    private static final int MAX_TURNS = 4_000;

    private static final int SMALL_FRACTION = 10;
    private static final int MIN_GHOSTS = 64;
    private static final int WAYS = 4;

    private final long maximum;
    private final Link<K, V> small = Link.newList();
    private final Link<K, V> main = Link.newList();
    private long smallWeight;
    private int entries;

    /**
     * The total weight of the entries. One thread at a time writes it, and any thread may read it.
     */
    private volatile long weight;

    /**
     * The hashes of evicted entries in the high halves, and the numbers of their evictions in the
     * low halves. The array consists of sets of {@link #WAYS} elements, in which the latest
     * eviction comes first. A new element of a full set replaces the oldest element.
     */
    private long[] ghosts = new long[MIN_GHOSTS];

    private int evictions;

    Eviction(long maximum) {
        this.maximum = maximum;
    }

    long weight() {
        return weight;
    }

    /** Returns true if the entry can be stored at all. */
    boolean fits(TrackedEntry<K, V> entry) {
        return entry.weight <= maximum;
    }

    /** Returns true if another entry must be evicted before {@code entry} is added. */
    boolean isFullFor(TrackedEntry<K, V> entry) {
        return weight > maximum - entry.weight;
    }

    /** Adds an entry for a key that has no entry. */
    void add(TrackedEntry<K, V> entry) {
        entry.isInMain = isGhost(entry.hash);
        append(entry);
    }

    /** Adds an entry in place of a removed entry. The write counts as a read. */
    void addReplacement(TrackedEntry<K, V> entry, TrackedEntry<K, V> replaced) {
        entry.isInMain = replaced.isInMain;
        entry.reads = replaced.reads;
        entry.countRead();
        append(entry);
    }

    /** Adds an entry without changing its queue or its reads, for example to undo a removal. */
    void append(TrackedEntry<K, V> entry) {
        if (entry.weight > 0) {
            (entry.isInMain ? main : small).append(entry.order());
        }
        smallWeight += entry.isInMain ? 0 : entry.weight;
        weight += entry.weight;
        entries++;
        if (entries > ghosts.length / 2) {
            ghosts = new long[2 * ghosts.length];
        }
    }

    void remove(TrackedEntry<K, V> entry) {
        entry.order().unlink();
        smallWeight -= entry.isInMain ? 0 : entry.weight;
        weight -= entry.weight;
        entries--;
    }

    void clear() {
        small.clear();
        main.clear();
        smallWeight = 0;
        weight = 0;
        entries = 0;
    }

    /** Returns the entry to evict next. There must be an entry with a weight. */
    TrackedEntry<K, V> victim() {
        for (int turn = 0; ; turn++) {
            boolean isFromSmall =
                    main.isEmpty()
                            || (!small.isEmpty() && smallWeight >= maximum / SMALL_FRACTION);
            TrackedEntry<K, V> first =
                    Objects.requireNonNull((isFromSmall ? small : main).first());
            if (first.reads <= (isFromSmall ? 1 : 0) || turn == MAX_TURNS) {
                return first;
            }
            first.order().unlink();
            main.append(first.order());
            if (isFromSmall) {
                first.isInMain = true;
                first.reads = 0;
                smallWeight -= first.weight;
            } else {
                first.reads--;
            }
        }
    }

    /**
     * Remembers the hash of an evicted entry, unless it was in the main queue. Must be called after
     * each eviction.
     */
    void remember(TrackedEntry<K, V> entry) {
        if (!entry.isInMain) {
            evictions++;
            int set = firstOf(entry.hash);
            System.arraycopy(ghosts, set, ghosts, set + 1, WAYS - 1);
            ghosts[set] = (long) entry.hash << 32 | Integer.toUnsignedLong(evictions);
        }
    }

    /**
     * Returns true if a hash is remembered and its eviction is recent: at most n other evictions
     * have followed it, where n is the number of entries.
     */
    private boolean isGhost(int hash) {
        int set = firstOf(hash);
        for (int way = set; way < set + WAYS; way++) {
            long ghost = ghosts[way];
            if ((int) (ghost >>> 32) == hash && ghost != 0) {
                return Integer.compareUnsigned(evictions - (int) ghost, entries) <= 0;
            }
        }
        return false;
    }

    private int firstOf(int hash) {
        return (hash & ghosts.length / WAYS - 1) * WAYS;
    }
}
