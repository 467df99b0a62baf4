// SPDX-License-Identifier: Apache-2.0
// Started by ProcessTest with hold_calls, so that programs in a held directory hang.
package benchlab.appserver.process;

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
            untilOnly(Set.of(), pipes);
        }
        hangsBesideOthers(hangsInExec);
        untilOnly(Set.of(), pipes);
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
            ProcessTest.until(() -> !children().equals(before));
            Set<Long> withHanging = children();
            for (int turn = 0; turn < 10; turn++) {
                Command.of("/bin/true").run("", ProcessTest.LONG).orThrow();
            }
            assertThrows(TimeoutException.class, () -> hanging.start(SHORT));
            ProcessTest.until(() -> children().equals(withHanging));
            assertTrue(waiting.isAlive());
            waiting.interrupt();
            waiting.join();
            ProcessTest.until(() -> children().equals(before));
            assertTrue(running.isAlive());
        }
    }

    /**
     * Waits until the child processes of the JVM are exactly {@code children}, and the number of
     * its pipes is {@code pipes}. On a busy machine, ending a start takes longer.
     */
    private static void untilOnly(Set<Long> children, long pipes) throws InterruptedException {
        ProcessTest.until(() -> children().equals(children) && ProcessTest.pipes() == pipes);
    }

    private static Set<Long> children() {
        return ProcessHandle.current()
                .children()
                .map(ProcessHandle::pid)
                .collect(Collectors.toSet());
    }
}
