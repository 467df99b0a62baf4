// SPDX-License-Identifier: Apache-2.0
// The programs to start, and their exit status.
package benchlab.process;

import benchlab.appserver.process.Command;
import benchlab.appserver.process.ExitStatus;
import java.io.File;
import java.lang.ProcessBuilder.Redirect;

final class Programs {

    private static final Redirect NO_INPUT = Redirect.from(new File("/dev/null"));

    private Programs() {}

    /** Returns a command with all streams on the null device. */
    static Command silent(String program, String... arguments) {
        return Command.of(program, arguments)
                .stdin(NO_INPUT)
                .stdout(Redirect.DISCARD)
                .stderr(Redirect.DISCARD);
    }

    /** Returns a command whose output is piped. */
    static Command writing(String program, String... arguments) {
        return silent(program, arguments).stdout(Redirect.PIPE);
    }

    /** Returns a line filter, whose input and output are piped. */
    static Command filter() {
        return writing("/bin/cat").stdin(Redirect.PIPE);
    }

    /** Returns the exit code, or 256 + the signal. */
    static long number(ExitStatus status) {
        return status instanceof ExitStatus.Signaled killed
                ? 256 + killed.number()
                : ((ExitStatus.Exited) status).code();
    }
}
