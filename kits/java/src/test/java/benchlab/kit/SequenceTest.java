// SPDX-License-Identifier: Apache-2.0
// Tests the inputs: all kits must compute the same values.
package benchlab.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SequenceTest {

    /**
     * The values for seed 7 are from docs/protocol.md; the others were computed with integers of
     * unlimited size and reduced modulo 2<sup>64</sup>.
     */
    @ParameterizedTest
    @CsvSource({
        "7, 0, 7191089600892374487",
        "7, 1, 309689372594955804",
        "7, 2, 16616101746815609346",
        "0, 0, 16294208416658607535",
        "0, 1, 7960286522194355700",
        "18446744073709551615, 0, 16490336266968443936",
        "18446744073709551615, 4095, 18365585350193557613",
    })
    void givesTheReferenceValues(String seed, long index, String value) {
        long input = new Sequence(Long.parseUnsignedLong(seed)).at(index);
        assertEquals(value, Long.toUnsignedString(input));
    }

    @Test
    void repeatsAfter4096Values() {
        var sequence = new Sequence(7);
        assertEquals(sequence.at(0), sequence.at(4096));
        assertEquals(sequence.at(4095), sequence.at((1L << 53) - 1));
    }

    @Test
    void mapsItsValues() {
        assertEquals(7191089600892374487L >>> 33, new Sequence(7).map(v -> v >>> 33).at(4096));
    }
}
