// SPDX-License-Identifier: Apache-2.0
// One operation of a case.
package benchlab.process;

/** What a case does again and again. One batch at a time uses it. */
interface Operation extends AutoCloseable {

    /** Does one, and returns what it adds to the check. */
    long perform() throws Exception;

    /** What each operation adds to the units. */
    default long units() {
        return 1;
    }

    /** A metric whose mean over the operations is told; null if there is none. */
    default String metric() {
        return null;
    }

    /** What the latest operation adds to the metric. */
    default double measured() {
        return 0;
    }

    @Override
    default void close() throws Exception {}
}
