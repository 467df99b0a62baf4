// SPDX-License-Identifier: Apache-2.0
// The case kill: a program that does not exit in time is killed, with its child.
package benchlab.process;

import benchlab.appserver.process.Command;
import benchlab.appserver.process.ExitStatus;
import benchlab.appserver.process.RunningProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** Kills a program and its child. The output ends when both processes have exited. */
final class Kill implements Operation {

    private static final Duration LIMIT = Duration.ofMillis(5);

    private final Command command =
            Programs.writing("/bin/sh", "-c", "/bin/sleep 60 & exec /bin/sleep 60");
    private long killTime;

    @Override
    public long perform() throws Exception {
        long before = System.nanoTime();
        try (RunningProcess process = command.start()) {
            try {
                process.waitFor(LIMIT.minusNanos(System.nanoTime() - before));
                throw new IOException("/bin/sh exited before the timeout");
            } catch (TimeoutException e) {
                long killed = System.nanoTime();
                process.kill();
                Content.NOTHING.mustBe(process.stdout().readAllBytes());
                ExitStatus status = process.waitFor();
                killTime = System.nanoTime() - killed;
                return Content.NOTHING.hash() + Programs.number(status);
            }
        }
    }

    @Override
    public String metric() {
        return "kill_time";
    }

    @Override
    public double measured() {
        return killTime;
    }
}
