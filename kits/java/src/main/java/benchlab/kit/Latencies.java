// SPDX-License-Identifier: Apache-2.0
package benchlab.kit;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A histogram of latencies (docs/protocol.md, section Latencies). The width of each bucket is at
 * most 1/32 of its values: HdrHistogram's layout with 64 sub-buckets. All buckets are allocated at
 * the start, so recording allocates no memory. One thread records; another thread may read after
 * the first one has stopped.
 */
public final class Latencies {
    /**
     * The number of buckets that each further power of two adds: half its sub-buckets. The other
     * half would repeat the buckets of smaller values.
     */
    private static final int HALF = 32;

    private final long[] counts = new long[index(Long.MAX_VALUE) + 1];

    /** Returns the bucket of a latency in ns, counted from 0. */
    static int index(long ns) {
        int bits = Long.SIZE - Long.numberOfLeadingZeros(ns);
        int exponent = Math.max(0, bits - 6);
        return exponent * HALF + (int) (ns >>> exponent);
    }

    /**
     * Records a latency.
     *
     * @param ns the latency in nanoseconds, at least 0
     */
    public void record(long ns) {
        counts[index(ns)]++;
    }

    /**
     * Adds the counts of another histogram.
     *
     * @param other the other histogram
     */
    public void add(Latencies other) {
        Arrays.setAll(counts, i -> counts[i] + other.counts[i]);
    }

    /** Clears all counts. */
    public void clear() {
        Arrays.fill(counts, 0);
    }

    /** Returns the argument {@code latencies}: {@code INDEX:COUNT,...}, ascending. */
    String format() {
        return IntStream.range(0, counts.length)
                .filter(i -> counts[i] > 0)
                .mapToObj(i -> i + ":" + counts[i])
                .collect(Collectors.joining(","));
    }
}
