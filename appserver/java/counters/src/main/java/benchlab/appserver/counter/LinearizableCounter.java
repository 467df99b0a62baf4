// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.counter;

/**
 * A linearizable counter: all threads see its operations in one order, and each operation takes
 * effect at one moment between its call and its return. All writes of a thread before an operation
 * are visible to any thread whose later operation sees the effect.
 */
public interface LinearizableCounter extends Counter {

    /**
     * Returns the current value.
     *
     * @return the value
     */
    @Override
    long value();

    /**
     * Sets the value.
     *
     * @param to the new value
     */
    void set(long to);

    /**
     * Adds an amount and returns the previous value.
     *
     * @param amount the amount, which may be negative
     * @return the value before the addition
     */
    long fetchAndAdd(long amount);

    /**
     * Sets the value if it equals the expected value. Never fails spuriously.
     *
     * @param expected the expected value
     * @param to the new value
     * @return true if the value was set
     */
    boolean compareAndSet(long expected, long to);

    /**
     * Subtracts 1, for a reference count: if multiple threads count down to zero, exactly one
     * thread gets true, and this thread sees all writes of the other threads before they counted
     * down.
     *
     * @return true if the value is now zero
     */
    default boolean decrementAndTestZero() {
        return fetchAndAdd(-1) == 1;
    }

    @Override
    default void add(long amount) {
        fetchAndAdd(amount);
    }
}
