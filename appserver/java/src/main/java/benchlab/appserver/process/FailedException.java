// SPDX-License-Identifier: Apache-2.0
// A program that did not succeed.
package benchlab.appserver.process;

import java.io.IOException;

/** A program did not exit with code 0. */
public final class FailedException extends IOException {
    private static final long serialVersionUID = 1;

    private final transient Output output;

    FailedException(String program, Output output, String errorText) {
        super(program + " " + output.status() + (errorText.isEmpty() ? "" : ": " + errorText));
        this.output = output;
    }

    /** The program's status and all of its output; null after serialization. */
    public Output output() {
        return output;
    }
}
