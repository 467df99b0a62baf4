// SPDX-License-Identifier: Apache-2.0
package benchlab.counter;

/**
 * A scheme for sharing a counter between threads. Each scheme has its own loops: a common loop would
 * call {@code increment} through the interface, and the JIT would inline the call or not depending
 * on earlier calls.
 */
interface Scheme {
    /** The number of reads per increment in read_mostly. */
    int READS = 100;

    /** Returns true if the counter never loses an increment. */
    boolean isSafe();

    long value();

    void increments(long times);

    /**
     * Increments the counter {@code times} times, with {@link #READS} reads after each increment.
     *
     * @return the number of reads that found a lower value than the previous one
     */
    long incrementsAndReads(long times);
}
