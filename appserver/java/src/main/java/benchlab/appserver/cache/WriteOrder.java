// SPDX-License-Identifier: Apache-2.0
// The entries of a cache in the order in which they were written.
package benchlab.appserver.cache;

/**
 * Links in the entries themselves: no method calls a key's {@code hashCode} or {@code equals}, so
 * that none can fail and leave a cache with an entry that never leaves. Not safe for threads.
 */
final class WriteOrder<K, V> {

    private Entry<K, V> oldest;
    private Entry<K, V> newest;

    /** The entry written longest ago, or null. */
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
