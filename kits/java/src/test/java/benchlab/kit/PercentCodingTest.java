// SPDX-License-Identifier: Apache-2.0
// Tests that no value can break a line.
package benchlab.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PercentCodingTest {

    @ParameterizedTest
    @CsvSource({
        "%41%7a, Az",
        "%20, %20",
        "%3d%25%0A%0d%22%27, %3D%25%0A%0D%22%27",
        "%00%7f, %00%7F",
        "%c3%a9%E2%82%AC%f0%9f%98%80, %C3%A9%E2%82%AC%F0%9F%98%80",
    })
    void decodesAndEncodes(String in, String out) throws Exception {
        assertEquals("@lab opened text=" + out + " a_1=fixed", echo(in));
    }

    @Test
    void leavesPlainBytesAlone() throws Exception {
        String plain = "ABCXYZabcxyz0189-._~/:,+";
        assertEquals("@lab opened text=" + plain + " a_1=fixed", echo(plain));
    }

    @Test
    void takesAnEmptyValue() throws Exception {
        assertEquals("@lab opened text= a_1=fixed", echo(""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "%", "x%", "%4", "%4g", "%g4", "%%41", "%+1", "%-1", // escapes
                "a=b", "a\"b", "a\tb", "a\rb", "a\0b", "a*b", "a\u007fb", // bytes to be encoded
                "\u00c3\u00a9", // two raw bytes: UTF-8, but not encoded
                "%FF", "%C3", "%C3%28", "%C0%80", "%ED%A0%80" // not UTF-8
            })
    void refusesMalformedValues(String value) throws Exception {
        String reply = echo(value);
        assertTrue(reply.startsWith("@lab error code=usage message="), reply);
    }

    private static String echo(String value) throws Exception {
        return Conversation.with(new Probe(), "open case=echo seed=7 count=1 text=" + value).get(0);
    }
}
