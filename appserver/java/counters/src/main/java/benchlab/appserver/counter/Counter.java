// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.counter;

/**
 * A 64-bit number that multiple threads change concurrently. No update is lost.
 *
 * <p>The range is -2<sup>63</sup> to 2<sup>63</sup> - 1. The value wraps around silently, as a
 * {@code long} does; at 10<sup>9</sup> increments per second that takes 292 years.
 *
 * <p>A counter starts at zero unless an initial value is passed to its constructor.
 */
public interface Counter {

    /**
     * Returns the initial value plus all changes that happened before this call. Concurrent changes
     * may or may not be included.
     *
     * @return the value
     */
    long value();

    /**
     * Adds an amount.
     *
     * @param amount the amount, which may be negative
     */
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
