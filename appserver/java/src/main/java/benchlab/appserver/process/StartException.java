// SPDX-License-Identifier: Apache-2.0
// A program that could not be started.
package benchlab.appserver.process;

import java.io.IOException;

/**
 * The program or its directory does not exist, or the system cannot start it. The cause has the
 * reason.
 */
public final class StartException extends IOException {
    private static final long serialVersionUID = 1;

    StartException(String program, IOException cause) {
        super("cannot start " + program + ": " + cause.getMessage(), cause);
    }
}
