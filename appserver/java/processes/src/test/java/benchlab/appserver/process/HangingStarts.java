// SPDX-License-Identifier: Apache-2.0
// Started by ProcessTest with hold_calls, so that programs in a held directory hang.
package benchlab.appserver.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

final class HangingStarts {

    private static final Duration SHORT = Duration.ofMillis(200);

    private HangingStarts() {}

    public static void main(String[] arguments) throws Exception {
        Path held = Path.of(arguments[0]);
        Path program = Files.createSymbolicLink(held.resolve("true"), Path.of("/bin/true"));
        Command hangsInExec = Command.of(program.toString());
        Command hangsInDirectory = Command.of("/bin/true").directory(held);
        Command.of("/bin/true").run().orThrow(); // Loads classes.
        long pipes = ProcessTest.pipes();

        for (Command command : List.of(hangsInExec, hangsInDirectory, hangsInExec)) {
            assertThrows(TimeoutException.class, () -> command.start(SHORT));
            assertThrows(TimeoutException.class, () -> command.run("", SHORT));
            assertEquals(Set.of(), children());
            assertEquals(pipes, ProcessTest.pipes());
        }
        hangsBesideOthers(hangsInExec);
        assertEquals(Set.of(), children());
        assertEquals(pipes, ProcessTest.pipes());
        System.exit(0); // A hanging thread must not keep the JVM alive.
    }

    /**
     * Checks that neither other starts nor the end of another hanging start affect a hanging start.
     */
    private static void hangsBesideOthers(Command hanging) throws Exception {
        try (RunningProcess running = Command.of("cat").start()) {
            var waiting = new Thread(() -> assertThrows(InterruptedException.class, hanging::run));
            Set<Long> before = children();
            waiting.start();
            while (children().equals(before)) {
                Thread.sleep(1);
            }
            Set<Long> withHanging = children();
            for (int turn = 0; turn < 10; turn++) {
                Command.of("/bin/true").run("", Duration.ofSeconds(30)).orThrow();
            }
            assertThrows(TimeoutException.class, () -> hanging.start(SHORT));
            assertEquals(withHanging, children());
            assertTrue(waiting.isAlive());
            waiting.interrupt();
            waiting.join();
            assertEquals(before, children());
            assertTrue(running.isAlive());
        }
    }

    private static Set<Long> children() {
        return ProcessHandle.current()
                .children()
                .map(ProcessHandle::pid)
                .collect(Collectors.toSet());
    }
}
