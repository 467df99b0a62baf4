// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/**
 * The exit status of a program, with its standard output and standard error.
 *
 * @param program the program
 * @param status the exit status
 * @param stdout the standard output; empty if it was not piped
 * @param stderr the standard error; empty if it was not piped
 */
public record Output(String program, ExitStatus status, byte[] stdout, byte[] stderr) {

    private static final int MAX_ERROR_TEXT = 500; // characters

    /**
     * Decodes standard output as UTF-8.
     *
     * @return the text
     * @throws CharacterCodingException if the output is not valid UTF-8
     */
    public String text() throws CharacterCodingException {
        return text(StandardCharsets.UTF_8);
    }

    /**
     * Decodes standard output.
     *
     * @param encoding the encoding of the output
     * @return the text
     * @throws CharacterCodingException if the output is not valid in {@code encoding}
     */
    public String text(Charset encoding) throws CharacterCodingException {
        return encoding.newDecoder().decode(ByteBuffer.wrap(stdout)).toString();
    }

    /**
     * Decodes standard error as UTF-8. Invalid bytes become U+FFFD, since this text is for people.
     *
     * @return the text
     */
    public String errorText() {
        return new String(stderr, StandardCharsets.UTF_8);
    }

    /**
     * Returns this output if the program succeeded.
     *
     * @return this output
     * @throws FailedException if the program failed; the message ends with the end of standard
     *     error
     */
    public Output orThrow() throws FailedException {
        if (status.isSuccess()) {
            return this;
        }
        String errorText = errorText().strip();
        throw new FailedException(
                program,
                this,
                errorText.substring(Math.max(0, errorText.length() - MAX_ERROR_TEXT)));
    }
}
