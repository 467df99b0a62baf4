// SPDX-License-Identifier: Apache-2.0
// Reads lines of limited length from a byte stream.
package benchlab.kit;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

final class LineReader {
    /** The maximum length of a line in bytes, without its LF. */
    static final int LIMIT = 65_536;

    private final InputStream in;
    private final byte[] line = new byte[LIMIT];

    LineReader(InputStream in) {
        this.in = new BufferedInputStream(in);
    }

    /**
     * Reads the next line without its LF, one character per byte. The last line may lack an LF.
     *
     * @return the line, or null at the end of the input
     * @throws Refusal if the line is too long; the whole line has then been read
     */
    String read() throws IOException, Refusal {
        int length = 0;
        int c = in.read();
        if (c < 0) {
            return null;
        }
        for (; c >= 0 && c != '\n'; c = in.read()) {
            if (length < LIMIT) {
                line[length] = (byte) c;
            }
            length++;
        }
        if (length > LIMIT) {
            throw Refusal.usage("the line is longer than " + LIMIT + " bytes");
        }
        return new String(line, 0, length, StandardCharsets.ISO_8859_1);
    }
}
