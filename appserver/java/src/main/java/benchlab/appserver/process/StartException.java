// SPDX-License-Identifier: Apache-2.0
// A program that could not be started.
package benchlab.appserver.process;

import java.io.IOException;

/**
 * There is no such program or directory, or the system does not let it run: the cause says which.
 */
public final class StartException extends IOException {
    private static final long serialVersionUID = 1;

    StartException(String program, IOException cause) {
        super("cannot start " + program + ": " + cause.getMessage(), cause);
    }
}
