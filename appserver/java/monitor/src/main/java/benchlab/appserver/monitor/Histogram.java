// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A histogram of times from 1 ns to 73 minutes. It has a constant size, and can be merged into
 * another histogram. Each power of two is divided into 32 buckets of equal width, as in <a
 * href="https://hdrhistogram.github.io/HdrHistogram">HdrHistogram</a>, so the midpoint of a bucket
 * is at most 1.6% away from the values in it. Any number of threads may use a histogram
 * concurrently; no value is lost.
 */
public final class Histogram {

    private static final int BITS = 5;

    /** The number of buckets for each power of two. */
    static final int PARTS = 1 << BITS;

    /** The maximum value in nanoseconds: 73 minutes. Larger values count as this value. */
    static final long MAX_VALUE = (1L << 42) - 1;

    static final int BUCKETS = (42 - BITS + 1) * PARTS;

    private final AtomicLongArray counts = new AtomicLongArray(BUCKETS);

    /** Creates an empty histogram. */
    public Histogram() {}

    /** Returns the bucket of a value in nanoseconds; negative values count as zero. */
    static int bucketOf(long value) {
        long inside = Math.max(0, Math.min(value, MAX_VALUE));
        int shift = 63 - Long.numberOfLeadingZeros(inside | PARTS) - BITS;
        return shift * PARTS + (int) (inside >>> shift);
    }

    /** Returns the largest value of a bucket. */
    static long upperBound(int bucket) {
        int shift = bucket < PARTS ? 0 : bucket / PARTS - 1;
        return ((bucket - shift * PARTS + 1L) << shift) - 1;
    }

    /**
     * Records a time.
     *
     * @param time the time; negative values count as zero
     */
    public void record(Duration time) {
        record(time.toNanos());
    }

    /** Records a value in nanoseconds. */
    void record(long nanos) {
        counts.getAndIncrement(bucketOf(nanos));
    }

    /**
     * Adds the values of another histogram.
     *
     * @param other the other histogram
     */
    public void add(Histogram other) {
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            long count = other.counts.get(bucket);
            if (count > 0) {
                counts.getAndAdd(bucket, count);
            }
        }
    }

    /**
     * Returns the number of values.
     *
     * @return the number of values
     */
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
     * Returns a percentile: the upper bound of its bucket, which is at most 1/32 above the exact
     * value.
     *
     * @param percent 0 to 100
     * @return the percentile
     * @throws IllegalStateException if the histogram is empty
     */
    public Duration percentile(double percent) {
        long total = count();
        if (total == 0) {
            throw new IllegalStateException("the histogram is empty");
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
