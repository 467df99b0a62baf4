// SPDX-License-Identifier: Apache-2.0
// Loses increments: a read and a write of memory each.
package benchlab.counter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Opaque accesses are never left out or put together; two of them are no atomic increment. */
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
