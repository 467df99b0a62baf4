// SPDX-License-Identifier: Apache-2.0
// The inputs that a batch should use for seed 7, computed independently of the kit.
package benchlab.sql;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

final class Expected {
    private static final List<BigInteger> INPUTS = splitMix64(7, 50);

    private Expected() {}

    /** Returns the id of the row that operation k selects or changes. */
    static int id(int k, int rows) {
        return INPUTS.get(k).mod(BigInteger.valueOf(rows)).intValueExact() + 1;
    }

    /** Returns the id of the row that operation k of {@code transfer} adds to. */
    static int destination(int k, int rows) {
        BigInteger input = INPUTS.get(k).shiftRight(32);
        return input.mod(BigInteger.valueOf(rows)).intValueExact() + 1;
    }

    /** Returns the amount by which operation k changes a value. */
    static long amount(int k) {
        return INPUTS.get(k).shiftRight(20).mod(BigInteger.valueOf(100)).longValueExact() + 1;
    }

    /** Returns the value that operation k of a batch inserts. */
    static long value(int k) {
        return INPUTS.get(k).shiftRight(33).longValueExact();
    }

    /** Returns the first values that a batch inserts. */
    static List<Long> values(int count) {
        var values = new ArrayList<Long>();
        for (int k = 0; k < count; k++) {
            values.add(value(k));
        }
        return values;
    }

    /** Computes SplitMix64 as docs/protocol.md defines it, in unbounded integers. */
    private static List<BigInteger> splitMix64(long seed, int count) {
        BigInteger mask = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
        var values = new ArrayList<BigInteger>();
        BigInteger state = BigInteger.valueOf(seed);
        for (int i = 0; i < count; i++) {
            state = state.add(new BigInteger("9E3779B97F4A7C15", 16)).and(mask);
            BigInteger z = state;
            z = z.xor(z.shiftRight(30)).multiply(new BigInteger("BF58476D1CE4E5B9", 16)).and(mask);
            z = z.xor(z.shiftRight(27)).multiply(new BigInteger("94D049BB133111EB", 16)).and(mask);
            values.add(z.xor(z.shiftRight(31)));
        }
        return values;
    }
}
