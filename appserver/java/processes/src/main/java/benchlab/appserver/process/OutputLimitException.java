// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

import java.io.IOException;

/**
 * Thrown if a program wrote more to a stream than {@link Command#maxOutput} allows to be stored.
 * The stored output can still be read; the pipe is closed.
 */
public final class OutputLimitException extends IOException {
    private static final long serialVersionUID = 1;

    OutputLimitException(int maxOutput) {
        super(
                "the program wrote more than "
                        + maxOutput
                        + " bytes to a stream; raise maxOutput, or redirect the stream to a file");
    }
}
