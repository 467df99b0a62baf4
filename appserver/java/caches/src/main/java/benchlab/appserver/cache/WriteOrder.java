// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

/**
 * The entries of a cache in the order in which they were written. The links are in the entries
 * themselves, so no method calls a key's {@code hashCode} or {@code equals}, which could throw and
 * leave an entry in the cache forever. Not thread-safe.
 */
final class WriteOrder<K, V> {

    private Entry<K, V> oldest;
    private Entry<K, V> newest;

    /** The entry that was written first, or null if there is none. */
    Entry<K, V> oldest() {
        return oldest;
    }

    void add(Entry<K, V> entry) {
        entry.older = newest;
        if (newest == null) {
            oldest = entry;
        } else {
            newest.newer = entry;
        }
        newest = entry;
    }

    void remove(Entry<K, V> entry) {
        if (entry.older == null) {
            oldest = entry.newer;
        } else {
            entry.older.newer = entry.newer;
        }
        if (entry.newer == null) {
            newest = entry.older;
        } else {
            entry.newer.older = entry.older;
        }
        entry.older = null;
        entry.newer = null;
    }

    void clear() {
        oldest = null;
        newest = null;
    }
}
