// SPDX-License-Identifier: Apache-2.0
// A counter for many writers and few readers.
package benchlab.appserver.counter;

import java.util.concurrent.atomic.LongAdder;

/**
 * A counter for values that many threads change all the time and that are read now and then, such
 * as statistics. Threads that meet move to cells of their own ({@link LongAdder}), so that their
 * changes do not wait for each other; {@link #value} adds the cells up.
 *
 * <p>It is no {@link LinearizableCounter}, since no moment has <em>the</em> value: while others
 * write, {@link #value} may give a sum that the counter never had. Once the writers are done, it is
 * exact. A cell takes about 300 bytes, and there are at most as many as the next power of two of
 * the processors.
 */
public final class StripedCounter implements Counter {

    private final LongAdder cells = new LongAdder();

    /** A counter at zero. */
    public StripedCounter() {}

    /** A counter at {@code start}. */
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
