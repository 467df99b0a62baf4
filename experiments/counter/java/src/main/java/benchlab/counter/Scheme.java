// SPDX-License-Identifier: Apache-2.0
// A way to share a counter among threads.
package benchlab.counter;

/**
 * A counter with loops of its own: one loop for all schemes would call {@code increment} through the
 * interface, and the JIT would inline it or not by what it saw before.
 */
interface Scheme {
    /** For each increment, where reads are counted too. */
    int READS = 100;

    /** True if it never loses an increment. */
    boolean isSafe();

    long value();

    void increments(long times);

    /**
     * Each increment with {@link #READS} reads.
     *
     * @return how often a read found less than the one before it
     */
    long incrementsAndReads(long times);
}
