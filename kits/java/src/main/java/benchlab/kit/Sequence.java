// SPDX-License-Identifier: Apache-2.0
package benchlab.kit;

import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/**
 * The seeded inputs of a case: the first 4,096 values of SplitMix64 (Steele, Lea, Flood, <i>Fast
 * splittable pseudorandom number generators</i>, OOPSLA 2014), repeated endlessly. They are
 * computed in advance, so that a batch spends no time on them.
 */
public final class Sequence {
    private static final int LENGTH = 4096;

    private final long[] values = new long[LENGTH];

    /**
     * Computes the sequence.
     *
     * @param seed the generator's state before its first value
     */
    public Sequence(long seed) {
        long state = seed;
        for (int i = 0; i < LENGTH; i++) {
            state += 0x9E3779B97F4A7C15L;
            long z = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
            z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
            values[i] = z ^ (z >>> 31);
        }
    }

    private Sequence(Sequence source, LongUnaryOperator function) {
        Arrays.setAll(values, i -> function.applyAsLong(source.values[i]));
    }

    /**
     * Returns the sequence of a function's results, which are computed immediately.
     *
     * @param function the function
     * @return the results
     */
    public Sequence map(LongUnaryOperator function) {
        return new Sequence(this, function);
    }

    /**
     * Returns an input, an unsigned 64-bit number.
     *
     * @param index the index of the input, counted from 0
     * @return the input
     */
    public long at(long index) {
        return values[(int) index & (LENGTH - 1)];
    }
}
