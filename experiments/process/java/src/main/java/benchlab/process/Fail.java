// SPDX-License-Identifier: Apache-2.0
// The case fail: a missing program.
package benchlab.process;

import benchlab.appserver.process.Command;
import benchlab.appserver.process.RunningProcess;
import benchlab.appserver.process.StartException;
import java.io.IOException;

final class Fail implements Operation {

    private final Command command = Programs.silent("/bin/no-such-program");

    @Override
    public long perform() throws Exception {
        try (RunningProcess process = command.start()) {
            throw new IOException("a program that does not exist was started: " + process.pid());
        } catch (StartException e) {
            return 1;
        }
    }
}
