// SPDX-License-Identifier: Apache-2.0
package benchlab.counter;

/**
 * Loses increments of an ordinary field. The code for {@code value++} depends on the JIT, which may
 * keep the value in a register.
 */
final class UnsafePlainCounter implements Scheme {
    private long value;

    @Override
    public boolean isSafe() {
        return false;
    }

    @Override
    public long value() {
        return value;
    }

    @Override
    public void increments(long times) {
        for (long i = 0; i < times; i++) {
            value++;
        }
    }

    @Override
    public long incrementsAndReads(long times) {
        long before = 0;
        long backwards = 0;
        for (long i = 0; i < times; i++) {
            value++;
            for (int read = 0; read < READS; read++) {
                long now = value;
                backwards += now < before ? 1 : 0;
                before = now;
            }
        }
        return backwards;
    }
}
