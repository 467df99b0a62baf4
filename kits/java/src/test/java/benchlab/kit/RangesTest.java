// SPDX-License-Identifier: Apache-2.0
// Tests how numbers are formatted as ranges.
package benchlab.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RangesTest {

    @Test
    void joinsNumbersThatFollowEachOther() {
        assertEquals("none", Ranges.format(List.of()));
        assertEquals("0", Ranges.format(List.of(0L)));
        assertEquals("3,17-19", Ranges.format(List.of(3L, 17L, 18L, 19L)));
        assertEquals("1-2,4,6-7", Ranges.format(List.of(1L, 2L, 4L, 6L, 7L)));
        assertEquals("0-999999", Ranges.format(LongStream.range(0, 1_000_000).boxed().toList()));
    }

    /** Tests numbers that are larger than the numbers for which Java caches boxed objects. */
    @Test
    void takesLargeNumbers() {
        long last = 1L << 53;
        assertEquals(
                "1000," + (last - 1) + "-" + last,
                Ranges.format(List.of(1_000L, last - 1, last)));
    }
}
