// SPDX-License-Identifier: Apache-2.0
// A program that wrote too much.
package benchlab.appserver.process;

import java.io.IOException;

/**
 * A program wrote more to a stream that is kept in memory than {@link Command#maxOutput} allows.
 * What was kept can still be read; the pipe is closed.
 */
public final class OutputLimitException extends IOException {
    private static final long serialVersionUID = 1;

    OutputLimitException(int maxOutput) {
        super("the program wrote more than " + maxOutput + " bytes (maxOutput)");
    }
}
