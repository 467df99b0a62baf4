// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

import java.io.IOException;

/**
 * Thrown if a program could not be started, for example because the program or its directory does
 * not exist. The cause contains the reason.
 */
public final class StartException extends IOException {
    private static final long serialVersionUID = 1;

    StartException(String program, IOException cause) {
        super("cannot start " + program + ": " + cause.getMessage(), cause);
    }
}
