// SPDX-License-Identifier: Apache-2.0
// The case write_then_read, wrong on purpose: writes everything before it reads anything.
package benchlab.process;

import benchlab.appserver.process.Command;
import benchlab.appserver.process.ExitStatus.Signaled;
import benchlab.appserver.process.RunningProcess;
import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

final class WriteThenRead implements Operation {

    private static final int DEADLOCK_MS = 50;

    private final Command command = Programs.filter();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final Content content;
    private boolean isDeadlocked;

    WriteThenRead(Content content) {
        this.content = content;
    }

    @Override
    public long perform() throws Exception {
        try (RunningProcess process = command.start()) {
            var limit = timer.schedule(process::kill, DEADLOCK_MS, TimeUnit.MILLISECONDS);
            try {
                process.stdin().write(content.bytes());
                process.closeInput();
            } catch (IOException e) {
                // The program was killed.
            }
            byte[] output = process.stdout().readAllBytes();
            isDeadlocked = process.waitFor() instanceof Signaled;
            if (isDeadlocked) {
                limit.get(); // It is still searching for processes to kill.
            } else {
                limit.cancel(false);
                content.mustBe(output);
            }
            return 1;
        }
    }

    @Override
    public String metric() {
        return "deadlocked";
    }

    @Override
    public double measured() {
        return isDeadlocked ? 100 : 0;
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
