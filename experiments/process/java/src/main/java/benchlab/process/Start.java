// SPDX-License-Identifier: Apache-2.0
// The case start: from the start of a program to its exit.
package benchlab.process;

import benchlab.appserver.process.Command;
import benchlab.appserver.process.RunningProcess;

final class Start implements Operation {

    private final Command command = Programs.silent("/bin/true");

    @Override
    public long perform() throws Exception {
        try (RunningProcess process = command.start()) {
            return Content.NOTHING.hash() + Programs.number(process.waitFor());
        }
    }
}
