// SPDX-License-Identifier: Apache-2.0
package benchlab.process;

/** The repeated operation of a case. Batches never use it concurrently. */
interface Operation extends AutoCloseable {

    /** Does one operation, and returns the value to add to the check. */
    long perform() throws Exception;

    /** Returns the number of units of each operation. */
    default long units() {
        return 1;
    }

    /** Returns the metric whose mean over the operations is reported, or null if there is none. */
    default String metric() {
        return null;
    }

    /** Returns the metric's value for the latest operation. */
    default double measured() {
        return 0;
    }

    @Override
    default void close() throws Exception {}
}
