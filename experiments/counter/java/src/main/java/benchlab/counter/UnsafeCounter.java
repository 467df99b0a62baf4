// SPDX-License-Identifier: Apache-2.0
package benchlab.counter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Loses increments, each of which is a read and a write of memory. The JIT never removes or merges
 * opaque accesses, but two of them are not an atomic increment.
 */
final class UnsafeCounter implements Scheme {
    private static final VarHandle VALUE;

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(UnsafeCounter.class, "value", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long value;

    void increment() {
        VALUE.setOpaque(this, (long) VALUE.getOpaque(this) + 1);
    }

    @Override
    public boolean isSafe() {
        return false;
    }

    @Override
    public long value() {
        return (long) VALUE.getOpaque(this);
    }

    @Override
    public void increments(long times) {
        for (long i = 0; i < times; i++) {
            increment();
        }
    }

    @Override
    public long incrementsAndReads(long times) {
        long before = 0;
        long backwards = 0;
        for (long i = 0; i < times; i++) {
            increment();
            for (int read = 0; read < READS; read++) {
                long now = (long) VALUE.getOpaque(this);
                backwards += now < before ? 1 : 0;
                before = now;
            }
        }
        return backwards;
    }
}
