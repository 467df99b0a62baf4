// SPDX-License-Identifier: Apache-2.0
// What every counter can do.
package benchlab.appserver.counter;

/**
 * A 64-bit number that several threads change at once. No change is ever lost.
 *
 * <p>The range is -2<sup>63</sup> to 2<sup>63</sup> - 1. Beyond its ends the value wraps around, as
 * {@code long} does, without an error: at 10<sup>9</sup> increments a second that takes 292 years.
 *
 * <p>A counter starts at zero unless its constructor is told otherwise.
 */
public sealed interface Counter permits LinearizableCounter, StripedCounter {

    /**
     * The sum of the start and of all changes that happened before this call. Changes under way may
     * or may not be in it.
     */
    long value();

    /** Adds {@code amount}, which may be negative. */
    void add(long amount);

    /** Adds 1. */
    default void increment() {
        add(1);
    }

    /** Subtracts 1. */
    default void decrement() {
        add(-1);
    }
}
