// SPDX-License-Identifier: Apache-2.0
// The counter for most uses: one atomic instruction per change.
package benchlab.appserver.counter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A counter that no thread ever waits for: it has no lock, and a change is one atomic instruction
 * where the processor has one ({@code lock xadd} on x86-64).
 *
 * <p>It takes 280 bytes, so that no neighbour in memory slows it down (false sharing). Where
 * millions of counters are needed, {@link java.util.concurrent.atomic.AtomicLong} takes 24.
 */
public final class AtomicCounter extends Padded.Number implements LinearizableCounter {

    private static final VarHandle VALUE;

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(Padded.Value.class, "value", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** A counter at zero. */
    public AtomicCounter() {}

    /** A counter at {@code start}. */
    public AtomicCounter(long start) {
        VALUE.set(this, start); // Not volatile: nobody else has it yet.
    }

    @Override
    public long value() {
        return value;
    }

    @Override
    public void set(long to) {
        value = to;
    }

    @Override
    public long fetchAndAdd(long amount) {
        return (long) VALUE.getAndAdd(this, amount);
    }

    @Override
    public boolean compareAndSet(long expected, long to) {
        return VALUE.compareAndSet(this, expected, to);
    }

    @Override
    public String toString() {
        return Long.toString(value());
    }
}
