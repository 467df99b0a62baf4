// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.counter;

import java.util.concurrent.atomic.LongAdder;

/**
 * A counter for values that many threads change often and that are read rarely, such as statistics.
 * Threads that contend move to separate cells ({@link LongAdder}), so their changes do not wait for
 * each other; {@link #value} sums the cells.
 *
 * <p>The counter is not a {@link LinearizableCounter}: while other threads write, {@link #value}
 * may return a sum that the counter never had. After all writers have finished, the sum is exact. A
 * cell takes about 300 bytes, and the number of cells is at most the number of processors, rounded
 * up to a power of two.
 */
public final class StripedCounter implements Counter {

    private final LongAdder cells = new LongAdder();

    /** Creates a counter at zero. */
    public StripedCounter() {}

    /**
     * Creates a counter with an initial value.
     *
     * @param start the initial value
     */
    public StripedCounter(long start) {
        cells.add(start);
    }

    @Override
    public long value() {
        return cells.sum();
    }

    @Override
    public void add(long amount) {
        cells.add(amount);
    }

    @Override
    public String toString() {
        return Long.toString(value());
    }
}
