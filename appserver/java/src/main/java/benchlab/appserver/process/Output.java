// SPDX-License-Identifier: Apache-2.0
// The exit status and the output of a program.
package benchlab.appserver.process;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/**
 * The exit status of a program, and what it wrote to standard output and standard error.
 *
 * @param program the program
 * @param status its exit status
 * @param stdout its standard output; empty if it was not piped
 * @param stderr its standard error; empty if it was not piped
 */
public record Output(String program, ExitStatus status, byte[] stdout, byte[] stderr) {

    private static final int MAX_ERROR_TEXT = 500; // Characters.

    /**
     * Standard output as text in UTF-8.
     *
     * @throws CharacterCodingException if it is no UTF-8
     */
    public String text() throws CharacterCodingException {
        return text(StandardCharsets.UTF_8);
    }

    /**
     * Standard output as text.
     *
     * @throws CharacterCodingException if it is no text in this encoding
     */
    public String text(Charset encoding) throws CharacterCodingException {
        return encoding.newDecoder().decode(ByteBuffer.wrap(stdout)).toString();
    }

    /**
     * This, if the program succeeded.
     *
     * @throws FailedException if it did not; its message ends with the end of standard error
     */
    public Output orThrow() throws FailedException {
        if (status.isSuccess()) {
            return this;
        }
        String errorText = new String(stderr, StandardCharsets.UTF_8).strip();
        throw new FailedException(
                program,
                this,
                errorText.substring(Math.max(0, errorText.length() - MAX_ERROR_TEXT)));
    }
}
