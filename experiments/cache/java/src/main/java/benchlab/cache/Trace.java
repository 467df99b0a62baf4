// SPDX-License-Identifier: Apache-2.0
package benchlab.cache;

import benchlab.kit.Arguments;
import benchlab.kit.Refusal;
import benchlab.kit.Sequence;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;

/**
 * The accesses of a batch: the keys, and whether each operation reads or writes. Keys and values
 * are boxed in advance.
 */
final class Trace {
    /** The number of keys that {@link #zipf} draws from. */
    static final int ZIPF_KEYS = 10_000;

    private static final int LENGTH = 4096;

    private static final int REQUESTS = 50_000;

    private final Long[] keys = new Long[LENGTH];
    private final Long[] values = new Long[LENGTH];
    private final boolean[] reads = new boolean[LENGTH];

    private Trace(Sequence inputs, LongUnaryOperator key, LongPredicate isRead) {
        for (int k = 0; k < LENGTH; k++) {
            keys[k] = key.applyAsLong(inputs.at(k));
            values[k] = keys[k] + 1;
            reads[k] = isRead.test(inputs.at(k));
        }
    }

    /**
     * Draws keys below {@link #ZIPF_KEYS} from a Zipf distribution. On average, {@code
     * readPercentage} percent of the operations are reads.
     */
    static Trace zipf(Sequence inputs, int readPercentage) {
        long[] sums = weightSums();
        long total = sums[ZIPF_KEYS - 1];
        return new Trace(
                inputs,
                input -> firstAbove(sums, Long.remainderUnsigned(input, total)),
                input -> (input >>> 32) % 100 < readPercentage);
    }

    /** Draws keys below {@code bound} with equal probability. */
    static Trace uniform(Sequence inputs, long bound) {
        return new Trace(inputs, input -> Long.remainderUnsigned(input, bound), input -> true);
    }

    /** Returns the keys of the case evict. */
    static Long[] requests(Arguments arguments) throws Refusal {
        String name = arguments.text("trace");
        Sequence inputs = arguments.sequence();
        long[] sums = weightSums();
        var keys = new Long[REQUESTS];
        for (int k = 0; k < REQUESTS; k++) {
            long zipf = firstAbove(sums, Long.remainderUnsigned(input(inputs, k), sums[ZIPF_KEYS - 1]));
            keys[k] =
                    switch (name) {
                        case "zipf" -> zipf;
                        case "loop" -> (long) k % 1_250;
                        case "scans" -> k / 2_000 % 2 == 0 ? zipf : 1_000_000L + k;
                        case "shifting" -> 100_000L * (k / 10_000) + zipf;
                        default -> throw Refusal.unsupported("unknown trace " + name);
                    };
        }
        return keys;
    }

    /** Returns the value k of the seeded sequence, mixed so that the sequence does not repeat. */
    private static long input(Sequence inputs, int k) {
        long mixed = inputs.at(k) + k / LENGTH * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
        return mixed ^ mixed >>> 27;
    }

    Long key(long k) {
        return keys[(int) k & (LENGTH - 1)];
    }

    Long value(long k) {
        return values[(int) k & (LENGTH - 1)];
    }

    boolean reads(long k) {
        return reads[(int) k & (LENGTH - 1)];
    }

    /**
     * Returns cumulative weights in integer arithmetic, which all languages support: key i has the
     * weight 2^32 / (i + 1).
     */
    private static long[] weightSums() {
        var sums = new long[ZIPF_KEYS];
        long sum = 0;
        for (int i = 0; i < ZIPF_KEYS; i++) {
            sum += (1L << 32) / (i + 1);
            sums[i] = sum;
        }
        return sums;
    }

    private static int firstAbove(long[] sums, long drawn) {
        int low = 0;
        int high = sums.length - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sums[middle] > drawn) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }
}
