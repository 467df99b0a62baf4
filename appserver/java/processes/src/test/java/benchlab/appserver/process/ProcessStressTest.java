// SPDX-License-Identifier: Apache-2.0
// Checks for lost bytes and leaked processes, for the duration that Stress defines.
package benchlab.appserver.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.Stress;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class ProcessStressTest {

    private static final int THREADS = 3;

    @Test
    void runsManyAtOnce() throws Exception {
        var deadline = new Stress.Deadline(Stress.part(1));
        Callable<Long> task =
                () -> {
                    long rounds = 0;
                    do {
                        if (ThreadLocalRandom.current().nextInt(4) > 0) {
                            filter();
                        } else {
                            killWhileItWrites();
                        }
                        rounds++;
                    } while (!deadline.passed());
                    return rounds;
                };
        List<Long> rounds = Stress.together(Collections.nCopies(THREADS, task));
        assertTrue(rounds.stream().allMatch(count -> count > 0));
        for (int waits = 0; ProcessHandle.current().children().count() > 0; waits++) {
            assertTrue(waits < 12_000, "child processes are left");
            Thread.sleep(10);
        }
    }

    private static void filter() throws Exception {
        byte[] input = new byte[ThreadLocalRandom.current().nextInt(300_000)];
        ThreadLocalRandom.current().nextBytes(input);
        Output output = Command.of("cat").run(input, ProcessTest.LONG);
        assertArrayEquals(input, output.stdout());
        assertEquals(new ExitStatus.Exited(0), output.status());
    }

    private static void killWhileItWrites() throws Exception {
        Command endless = Command.of("sh", "-c", "cat /dev/zero & cat /dev/zero >&2");
        var limit = Duration.ofMillis(ThreadLocalRandom.current().nextInt(1, 10));
        try {
            endless.run(new byte[100_000], limit);
            throw new AssertionError("the program exited although it is endless");
        } catch (TimeoutException | OutputLimitException e) {
            // Expected: the program was killed. If the timeout is late, it has written too much.
        }
    }
}
