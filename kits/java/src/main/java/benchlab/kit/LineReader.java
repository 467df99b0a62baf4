// SPDX-License-Identifier: Apache-2.0
// Reads lines of bounded length from a stream of bytes.
package benchlab.kit;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

final class LineReader {
    /** The most bytes of a line, without its LF. */
    static final int LIMIT = 65_536;

    private final InputStream in;
    private final byte[] line = new byte[LIMIT];

    LineReader(InputStream in) {
        this.in = new BufferedInputStream(in);
    }

    /**
     * The next line without its LF, one character per byte, or null at the end of the input. A last
     * line may lack its LF.
     *
     * @throws Refusal if the line is too long; it has then been read to its end
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
