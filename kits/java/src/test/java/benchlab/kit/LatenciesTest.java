// SPDX-License-Identifier: Apache-2.0
// Tests the histogram: all kits must use the same bucket for a latency.
package benchlab.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LatenciesTest {

    /** Tests the table of docs/protocol.md, and the maximum value. */
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "63, 63",
        "64, 64",
        "65, 64",
        "66, 65",
        "127, 95",
        "128, 96",
        "1000, 190",
        "1000000, 509",
        "4294967296, 896",
        "9223372036854775807, 1887",
    })
    void countsInTheReferenceBuckets(long ns, int index) {
        assertEquals(index, Latencies.index(ns));
    }

    /**
     * Checks that buckets have no gaps, and that the width of each bucket is at most 1/32 of its
     * values.
     */
    @Test
    void leavesNoGapAndKeepsItsPrecision() {
        long first = 0; // The minimum latency of the bucket.
        for (int index = 0; index < 1887; index++) {
            long next = first + Math.max(1, Long.highestOneBit(first) / 32);
            assertEquals(index, Latencies.index(first));
            assertEquals(index, Latencies.index(next - 1));
            assertEquals(index + 1, Latencies.index(next));
            assertTrue(next - first <= Math.max(1, first / 32));
            first = next;
        }
    }

    @Test
    void writesWhatItCounted() {
        var latencies = new Latencies();
        assertEquals("", latencies.format());
        for (long ns : new long[] {1000, 65, 0, 64, 1_000_000}) {
            latencies.record(ns);
        }
        var more = new Latencies();
        more.record(1001);
        latencies.add(more);
        assertEquals("0:1,64:2,190:2,509:1", latencies.format());
        latencies.clear();
        assertEquals("", latencies.format());
    }

    /** A histogram without empty buckets still fits into a line of 65,536 bytes. */
    @Test
    void fitsALine() {
        var latencies = new Latencies();
        for (int bits = 0; bits < 63; bits++) {
            for (long part = 0; part < 64; part++) {
                for (int times = 0; times < 10_000; times++) {
                    latencies.record((1L << bits) + (part << Math.max(0, bits - 6)));
                }
            }
        }
        latencies.record(0);
        String text = latencies.format();
        assertEquals(1888, text.split(",").length);
        assertTrue(text.length() < 60_000, "length " + text.length());
    }
}
