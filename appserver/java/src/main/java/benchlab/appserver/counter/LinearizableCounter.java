// SPDX-License-Identifier: Apache-2.0
// A counter whose changes also tell the value that they found.
package benchlab.appserver.counter;

/**
 * A counter whose operations have one order that all threads see: each takes effect at one moment
 * between its call and its return. What a thread did before an operation is visible to a thread
 * whose later operation saw its effect.
 */
public sealed interface LinearizableCounter extends Counter permits AtomicCounter, LockedCounter {

    /** The value now. */
    @Override
    long value();

    /** Sets the value, whatever it is. */
    void set(long to);

    /**
     * Adds {@code amount}, which may be negative.
     *
     * @return the value before
     */
    long fetchAndAdd(long amount);

    /**
     * Sets the value to {@code to} if it is {@code expected}.
     *
     * @return whether it was; it never fails without a reason
     */
    boolean compareAndSet(long expected, long to);

    /**
     * Subtracts 1, as for a count of references: of several threads that count down to zero exactly
     * one is told so, and that one sees what the others did before they counted down.
     *
     * @return whether the value is zero now
     */
    default boolean decrementAndTestZero() {
        return fetchAndAdd(-1) == 1;
    }

    @Override
    default void add(long amount) {
        fetchAndAdd(amount);
    }
}
