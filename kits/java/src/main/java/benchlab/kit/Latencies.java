// SPDX-License-Identifier: Apache-2.0
// How long single operations took, as a histogram: docs/protocol.md, section Latencies.
package benchlab.kit;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Counts of latencies in buckets of which each is at most 1/32 as wide as what it counts:
 * HdrHistogram's layout with 64 sub-buckets. All buckets are there from the beginning, so that
 * recording takes no memory. One thread records; another may read when it is known to have stopped.
 */
public final class Latencies {
    /** Half the sub-buckets: those of the upper half of a power of two, which alone differ. */
    private static final int HALF = 32;

    private final long[] counts = new long[index(Long.MAX_VALUE) + 1];

    /** The bucket of a latency of {@code ns}, from 0. */
    static int index(long ns) {
        int bits = Long.SIZE - Long.numberOfLeadingZeros(ns);
        int exponent = Math.max(0, bits - 6);
        return exponent * HALF + (int) (ns >>> exponent);
    }

    /** @param ns from 0, as two readings of a monotonic clock differ */
    public void record(long ns) {
        counts[index(ns)]++;
    }

    /** Counts what another one recorded, too. */
    public void add(Latencies other) {
        Arrays.setAll(counts, i -> counts[i] + other.counts[i]);
    }

    /** Forgets all. */
    public void clear() {
        Arrays.fill(counts, 0);
    }

    /** The argument {@code latencies}: {@code INDEX:COUNT,...}, ascending. */
    String format() {
        return IntStream.range(0, counts.length)
                .filter(i -> counts[i] > 0)
                .mapToObj(i -> i + ":" + counts[i])
                .collect(Collectors.joining(","));
    }
}
