// SPDX-License-Identifier: Apache-2.0
// Compares percentiles with those of HdrHistogram, within the width of a bucket.
package benchlab.appserver.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class HistogramTest {

    private static final double[] PERCENTS = {0, 1, 25, 50, 75, 90, 95, 99, 99.9, 100};

    /** The expected percentiles. The tests of the Ada library read the same file. */
    private static final Path TABLE = Path.of("src/test/data/percentiles.txt");

    private static LongStream values(int count, int shift) {
        return LongStream.iterate(
                        6364136223846793005L + 1442695040888963407L,
                        state -> state * 6364136223846793005L + 1442695040888963407L)
                .limit(count)
                .map(state -> state >>> shift + (int) (state >>> 8 & 7));
    }

    @Test
    void percentilesAreThoseOfHdrHistogram() throws Exception {
        var table = new StringBuilder();
        for (int count : new int[] {1, 10, 1_000, 20_000}) {
            for (int shift : new int[] {22, 34, 50}) {
                var reference = new org.HdrHistogram.Histogram(1L << 42, 4);
                var histogram = new Histogram();
                values(count, shift).forEach(reference::recordValue);
                values(count, shift).forEach(histogram::record);
                for (double percent : PERCENTS) {
                    long expected = reference.getValueAtPercentile(percent);
                    long found = histogram.percentile(percent).toNanos();
                    assertTrue(Math.abs(found - expected) <= expected / 30 + 1, percent + " of " + count);
                    table.append(
                            String.format(
                                    Locale.ROOT, "%d %d %.1f %d%n", count, shift, percent, expected));
                }
            }
        }
        List<String> stored = Files.readAllLines(TABLE);
        assertEquals(table.toString(), stored.stream().collect(Collectors.joining("\n", "", "\n")));
    }

    @Test
    void bucketsAreWithoutGaps() {
        long below = 0;
        for (int bucket = 0; bucket < Histogram.BUCKETS; bucket++) {
            long last = Histogram.upperBound(bucket);
            assertEquals(bucket, Histogram.bucketOf(below));
            assertEquals(bucket, Histogram.bucketOf(last));
            assertTrue(bucket < 32 || (last + 1 - below) * 32 <= below);
            below = last + 1;
        }
        assertEquals(Histogram.BUCKETS - 1, Histogram.bucketOf(Long.MAX_VALUE));
        assertEquals(0, Histogram.bucketOf(-1));
    }

    @Test
    void sumsAreThoseOfAllValues() {
        var first = new Histogram();
        var second = new Histogram();
        var all = new Histogram();
        for (long k = 1; k <= 1_000; k++) {
            (k % 3 == 0 ? first : second).record(k * k);
            all.record(k * k);
        }
        first.add(second);
        for (int bucket = 0; bucket < Histogram.BUCKETS; bucket++) {
            assertEquals(all.countIn(bucket), first.countIn(bucket));
        }
        assertThrows(IllegalStateException.class, () -> new Histogram().percentile(50));
    }
}
