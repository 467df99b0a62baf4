// SPDX-License-Identifier: Apache-2.0
// Percent-encoding of values in UTF-8.
package benchlab.kit;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

final class PercentCoding {
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private PercentCoding() {}

    static String encode(String value) {
        var text = new StringBuilder(value.length() + 16);
        for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
            if (isPlain(b)) {
                text.append((char) b);
            } else {
                HEX.toHexDigits(text.append('%'), b);
            }
        }
        return text.toString();
    }

    /**
     * Decodes a value.
     *
     * @param text the value, one character per byte of the line
     * @return the decoded value
     * @throws Refusal if a byte should have been encoded, an escape is malformed, or the bytes are
     *     not UTF-8
     */
    static String decode(String text) throws Refusal {
        var bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%') {
                bytes.write(escaped(text, i));
                i += 2;
            } else if (isPlain(c)) {
                bytes.write(c);
            } else {
                throw Refusal.usage("a value has a character that must be percent-encoded");
            }
        }
        try {
            var utf8 = ByteBuffer.wrap(bytes.toByteArray());
            return StandardCharsets.UTF_8.newDecoder().decode(utf8).toString();
        } catch (CharacterCodingException e) {
            throw Refusal.usage("a value is not UTF-8");
        }
    }

    private static int escaped(String text, int at) throws Refusal {
        if (at + 2 < text.length()
                && HexFormat.isHexDigit(text.charAt(at + 1))
                && HexFormat.isHexDigit(text.charAt(at + 2))) {
            return HexFormat.fromHexDigits(text, at + 1, at + 3);
        }
        throw Refusal.usage("a % in a value is not followed by two hexadecimal digits");
    }

    private static boolean isPlain(int c) {
        return c >= 'A' && c <= 'Z'
                || c >= 'a' && c <= 'z'
                || c >= '0' && c <= '9'
                || c > 0 && "-._~/:,+".indexOf(c) >= 0;
    }
}
