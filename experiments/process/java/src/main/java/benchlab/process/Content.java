// SPDX-License-Identifier: Apache-2.0
package benchlab.process;

import benchlab.kit.Arguments;
import benchlab.kit.Refusal;
import benchlab.kit.Sequence;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The output or the input of a program, with its hash.
 *
 * @param bytes the content
 * @param hash FNV-1a (Fowler, Noll, Vo), 64 bits
 */
record Content(byte[] bytes, long hash) {

    /** The output of a program that writes nothing. */
    static final Content NOTHING = new Content(new byte[0]);

    Content(byte[] bytes) {
        this(bytes, hashOf(bytes));
    }

    /** Concatenates the inputs as eight bytes each, in little-endian order. */
    static Content of(Arguments arguments) throws Refusal {
        Sequence inputs = arguments.sequence();
        int size = (int) arguments.integer("bytes", 1, 1 << 24);
        var buffer = ByteBuffer.allocate(size + Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long k = 0; buffer.position() < size; k++) {
            buffer.putLong(inputs.at(k));
        }
        return new Content(Arrays.copyOf(buffer.array(), size));
    }

    private static long hashOf(byte[] bytes) {
        long hash = 0xCBF29CE484222325L;
        for (byte value : bytes) {
            hash = (hash ^ (value & 0xFF)) * 0x100000001B3L;
        }
        return hash;
    }

    void mustBe(byte[] output) throws IOException {
        if (!Arrays.equals(bytes, output)) {
            throw new IOException(
                    "unexpected output of " + output.length + " bytes");
        }
    }
}
