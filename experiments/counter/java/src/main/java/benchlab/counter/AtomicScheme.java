// SPDX-License-Identifier: Apache-2.0
package benchlab.counter;

import benchlab.appserver.counter.AtomicCounter;

/** A counter with atomic instructions: {@link AtomicCounter}. */
final class AtomicScheme implements Scheme {
    private final AtomicCounter counter = new AtomicCounter();

    @Override
    public boolean isSafe() {
        return true;
    }

    @Override
    public long value() {
        return counter.value();
    }

    @Override
    public void increments(long times) {
        for (long i = 0; i < times; i++) {
            counter.increment();
        }
    }

    @Override
    public long incrementsAndReads(long times) {
        long before = 0;
        long backwards = 0;
        for (long i = 0; i < times; i++) {
            counter.increment();
            for (int read = 0; read < READS; read++) {
                long now = counter.value();
                backwards += now < before ? 1 : 0;
                before = now;
            }
        }
        return backwards;
    }
}
