// SPDX-License-Identifier: Apache-2.0
// One operation of a case.
package benchlab.process;

/** The repeated operation of a case. One batch at a time uses it. */
interface Operation extends AutoCloseable {

    /** Does one, and returns what it adds to the check. */
    long perform() throws Exception;

    /** Units of each operation. */
    default long units() {
        return 1;
    }

    /** A metric whose mean over the operations is told; null if there is none. */
    default String metric() {
        return null;
    }

    /** The metric of the latest operation. */
    default double measured() {
        return 0;
    }

    @Override
    default void close() throws Exception {}
}
