// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

import java.io.IOException;

/** Thrown if a program did not exit with code 0. */
public final class FailedException extends IOException {
    private static final long serialVersionUID = 1;

    private final transient Output output;

    FailedException(String program, Output output, String errorText) {
        super(program + " " + output.status() + (errorText.isEmpty() ? "" : ": " + errorText));
        this.output = output;
    }

    /**
     * Returns the exit status and all output of the program.
     *
     * @return the output; null after deserialization
     */
    public Output output() {
        return output;
    }
}
