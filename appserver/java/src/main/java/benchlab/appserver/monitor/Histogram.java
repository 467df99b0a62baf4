// SPDX-License-Identifier: Apache-2.0
// A histogram of constant size.
package benchlab.appserver.monitor;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A histogram of times from nanoseconds to an hour, which can be added to another one. Each power
 * of two is divided into 32 buckets of the same width, as in <a
 * href="https://hdrhistogram.github.io/HdrHistogram">HdrHistogram</a>, so that the middle of a
 * bucket is at most 1.6 % away from the values in it. Any number of threads may use it at once; no
 * value is lost.
 */
public final class Histogram {

    private static final int BITS = 5;

    /** Buckets of a power of two. */
    static final int PARTS = 1 << BITS;

    /** In ns, 73 minutes: longer values count as this. */
    static final long MAX_VALUE = (1L << 42) - 1;

    static final int BUCKETS = (42 - BITS + 1) * PARTS;

    private final AtomicLongArray counts = new AtomicLongArray(BUCKETS);

    /** The bucket of a value, in ns; what is below zero counts as zero. */
    static int bucketOf(long value) {
        long inside = Math.max(0, Math.min(value, MAX_VALUE));
        int shift = 63 - Long.numberOfLeadingZeros(inside | PARTS) - BITS;
        return shift * PARTS + (int) (inside >>> shift);
    }

    /** The largest value of a bucket. */
    static long upperBound(int bucket) {
        int shift = bucket < PARTS ? 0 : bucket / PARTS - 1;
        return ((bucket - shift * PARTS + 1L) << shift) - 1;
    }

    /**
     * Counts a time.
     *
     * @param time the time; what is below zero counts as zero
     */
    public void record(Duration time) {
        record(time.toNanos());
    }

    /** Counts a value in nanoseconds. */
    void record(long nanos) {
        counts.getAndIncrement(bucketOf(nanos));
    }

    /** Adds the values of another one. */
    public void add(Histogram other) {
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            long count = other.counts.get(bucket);
            if (count > 0) {
                counts.getAndAdd(bucket, count);
            }
        }
    }

    /** The number of values. */
    public long count() {
        long sum = 0;
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            sum += counts.get(bucket);
        }
        return sum;
    }

    long countIn(int bucket) {
        return counts.get(bucket);
    }

    /**
     * The upper bound of the bucket with the value that so many percent of all values do not
     * exceed: at most 1/32 above it.
     *
     * @param percent 0 to 100
     * @throws IllegalStateException if there is no value
     */
    public Duration percentile(double percent) {
        long total = count();
        if (total == 0) {
            throw new IllegalStateException("there is no value");
        }
        long rank = Math.max(1, (long) Math.ceil(percent / 100 * total - 1e-6));
        long cumulated = 0;
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            cumulated += counts.get(bucket);
            if (cumulated >= rank) {
                return Duration.ofNanos(upperBound(bucket));
            }
        }
        return Duration.ofNanos(MAX_VALUE);
    }
}
