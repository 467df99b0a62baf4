// SPDX-License-Identifier: Apache-2.0
// Tests the communication with child processes, and that no process is left.
package benchlab.appserver.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.process.ExitStatus.Exited;
import benchlab.appserver.process.ExitStatus.Signaled;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.reflect.Proxy;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(600)
class ProcessTest {

    /** A timeout that only elapses if something hangs. */
    static final Duration LONG = Duration.ofMinutes(5);

    @TempDir Path folder;

    private long descriptors;

    @BeforeEach
    void countDescriptors() throws Exception {
        Command.of("true").run(); // Loads classes.
        descriptors = pipes();
    }

    /**
     * Checks that no child and no pipe remains. The thread that reads a pipe may close it a moment
     * later.
     */
    @AfterEach
    void nothingIsLeft() throws Exception {
        until(() -> ProcessHandle.current().children().findAny().isEmpty());
        until(() -> pipes() <= descriptors);
    }

    private static Command shell(String script) {
        return Command.of("sh", "-c", script);
    }

    @Test
    void passesArgumentsAsTheyAre() throws Exception {
        Output output = Command.of("printf", "%s|", "a b", "", "*", "$HOME", "\"'\n", "é").run();
        assertEquals("a b||*|$HOME|\"'\n|é|", output.text());
        assertEquals(new Exited(0), output.status());
        assertTrue(output.status().isSuccess());
        assertEquals(0, output.stderr().length);
    }

    @Test
    void setsTheEnvironment() throws Exception {
        Command print = shell("echo \"${PATH:+inherited}-$NAME-\"").environment("NAME", "a value");
        assertEquals("inherited-a value-\n", print.run().text());
        List<String> alone =
                Command.of("/usr/bin/env")
                        .withoutInheritedEnvironment()
                        .environment("NAME", "1")
                        .run()
                        .text()
                        .lines()
                        .filter(line -> !line.startsWith("APPSERVER_GROUP_"))
                        .toList();
        assertEquals(List.of("NAME=1"), alone);
    }

    @Test
    void runsInItsDirectory() throws Exception {
        assertEquals(
                folder.toRealPath() + "\n", Command.of("pwd").directory(folder).run().text());
    }

    @Test
    void redirectsToAndFromFiles() throws Exception {
        Path in = Files.writeString(folder.resolve("in"), "from a file");
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Output output =
                shell("cat; echo problem >&2")
                        .stdin(Redirect.from(in.toFile()))
                        .stdout(Redirect.to(out.toFile()))
                        .stderr(Redirect.to(err.toFile()))
                        .run();
        assertEquals("from a file", Files.readString(out));
        assertEquals("problem\n", Files.readString(err));
        assertEquals(0, output.stdout().length + output.stderr().length);
        assertThrows(
                IllegalArgumentException.class,
                () -> Command.of("cat").stdin(Redirect.from(in.toFile())).run(new byte[1]));
        try (var process = Command.of("cat").stdin(Redirect.from(in.toFile())).start()) {
            assertThrows(
                    IllegalStateException.class,
                    () -> process.feed(InputStream.nullInputStream()));
        }
    }

    @Test
    void keepsTheStreamsApartOrTogether() throws Exception {
        Command both = shell("echo 1; echo 2 >&2; echo 3");
        Output apart = both.run();
        assertEquals("1\n3\n", apart.text());
        assertEquals("2\n", apart.errorText());
        assertEquals("1\n2\n3\n", both.stderrToStdout().run().text());
        assertEquals("", both.stdout(Redirect.DISCARD).stderr(Redirect.DISCARD).run().text());
    }

    /** Transfers more than the capacity of any pipe in both directions, with concurrent errors. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 65_536, 65_537, 5_000_000})
    void writesAndReadsAtTheSameTime(int size) throws Exception {
        byte[] input = new byte[size];
        new Random(size).nextBytes(input);
        Output output = shell("tee /dev/stderr").run(input, LONG);
        assertArrayEquals(input, output.stdout());
        assertArrayEquals(input, output.stderr());
    }

    @Test
    void errorsThatNobodyReadsHoldNobodyUp() throws Exception {
        try (var process = shell("head -c 1000000 /dev/zero >&2; echo done").start()) {
            assertEquals("done", process.reader(StandardCharsets.UTF_8).readLine());
            assertEquals(1_000_000, process.stderr().readAllBytes().length);
            assertEquals(-1, process.stderr().read());
            assertEquals(new Exited(0), process.waitFor());
        }
    }

    @Test
    void aProgramNeedNotReadItsInput() throws Exception {
        byte[] input = new byte[1_000_000];
        assertEquals(new Exited(0), Command.of("true").run(input, LONG).status());
        assertEquals(3, Command.of("head", "-c", "3").run(input, LONG).stdout().length);
    }

    @Test
    void talks() throws Exception {
        try (var process = Command.of("cat").start()) {
            var writer = process.writer(StandardCharsets.UTF_8);
            var reader = process.reader(StandardCharsets.UTF_8);
            for (int k = 0; k < 100; k++) {
                writer.write("line " + k + "\n");
                writer.flush();
                assertEquals("line " + k, reader.readLine());
            }
            assertTrue(process.isAlive());
            process.closeInput();
            process.closeInput();
            assertEquals(-1, reader.read());
            assertEquals(new Exited(0), process.waitFor());
            assertFalse(process.isAlive());
        }
    }

    /** The program sort writes its output only after the end of its input. */
    @Test
    void iteratesOverLinesWhileItFeeds() throws Exception {
        var numbers = new StringBuilder();
        for (int k = 20_000; k > 0; k--) {
            numbers.append(k).append('\n');
        }
        try (var process = Command.of("sort", "-n").start()) {
            var feeding =
                    process.feed(
                            new ByteArrayInputStream(
                                    numbers.toString().getBytes(StandardCharsets.UTF_8)));
            int expected = 0;
            for (String line : process.lines()) {
                assertEquals(++expected, Integer.parseInt(line));
            }
            assertEquals(20_000, expected);
            feeding.get();
            assertThrows(
                    IllegalStateException.class,
                    () -> process.feed(InputStream.nullInputStream()));
        }
    }

    @Test
    void aSourceThatFailsIsToldAndEndsTheInput() throws Exception {
        var failing =
                new InputStream() {
                    @Override
                    public int read() throws IOException {
                        throw new IOException("the source failed");
                    }
                };
        try (var process = Command.of("cat").start()) {
            var feeding = process.feed(failing);
            assertEquals(new Exited(0), process.waitFor());
            assertEquals(
                    "the source failed",
                    assertThrows(ExecutionException.class, feeding::get).getCause().getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCancelledFeedEndsTheInput(boolean interrupts) throws Exception {
        try (var endless = new PipedInputStream(new PipedOutputStream());
                var process = Command.of("cat").start()) {
            assertTrue(process.feed(endless).cancel(interrupts));
            assertEquals(new Exited(0), process.waitFor(LONG));
        }
    }

    @Test
    void readsAndWritesTextInItsEncoding() throws Exception {
        var latin = StandardCharsets.ISO_8859_1;
        Output output = Command.of("cat").run("é".getBytes(latin));
        assertEquals("é", output.text(latin));
        assertThrows(CharacterCodingException.class, output::text);
        try (var process = Command.of("printf", "\\351\\n").start()) {
            assertEquals(List.of("é"), list(process.lines(latin)));
            assertThrows(IllegalStateException.class, () -> process.reader(StandardCharsets.UTF_8));
        }
        try (var process = Command.of("printf", "\\351\\n").start()) {
            assertThrows(UncheckedIOException.class, () -> list(process.lines()));
        }
        try (var process = Command.of("cat").start()) {
            var writer = process.writer(StandardCharsets.US_ASCII);
            assertThrows(
                    CharacterCodingException.class,
                    () -> {
                        writer.write("é");
                        writer.flush();
                    });
        }
    }

    @Test
    void linesGoOnWhereTheLastLoopStopped() throws Exception {
        try (var process = Command.of("printf", "1\\n2\\n3").start()) {
            for (String line : process.lines()) {
                assertEquals("1", line);
                break;
            }
            assertEquals(List.of("2", "3"), list(process.lines()));
        }
    }

    @Test
    void tellsCodesFromSignals() throws Exception {
        assertEquals(new Exited(7), shell("exit 7").run().status());
        assertEquals(new Exited(255), shell("exit 255").run().status());
        assertEquals(new Signaled(9), shell("kill -9 $$").run().status());
        assertEquals(new Signaled(15), shell("kill $$").run().status());
        assertFalse(new Signaled(15).isSuccess());
        assertEquals("exited with code 7", new Exited(7).toString());
        assertEquals("killed by signal 9", new Signaled(9).toString());
    }

    @Test
    void aFailureIsAnExceptionIfWanted() throws Exception {
        assertEquals("fine\n", Command.of("echo", "fine").run().orThrow().text());
        Output failed = shell("echo ' what is wrong ' >&2; exit 3").run();
        var failure = assertThrows(FailedException.class, failed::orThrow);
        assertEquals("sh exited with code 3: what is wrong", failure.getMessage());
        assertEquals(new Exited(3), failure.output().status());
    }

    @Test
    void whatCannotBeStartedIsAnException() throws Exception {
        Path file = Files.writeString(folder.resolve("not-executable"), "#!/bin/sh\n");
        Path noInterpreter = Files.writeString(folder.resolve("bad"), "#!/no/such/interpreter\n");
        assertTrue(noInterpreter.toFile().setExecutable(true));
        List<Command> commands =
                List.of(
                        Command.of("/no/such/program"),
                        Command.of("no-such-program-in-the-path"),
                        Command.of(file.toString()),
                        Command.of(folder.toString()),
                        Command.of(noInterpreter.toString()),
                        Command.of("true").directory(folder.resolve("missing")));
        for (Command command : commands) {
            var failure = assertThrows(StartException.class, command::run, command.toString());
            assertTrue(failure.getMessage().contains(command.commandLine().get(0)), failure.getMessage());
        }
        Redirect pipe = Redirect.PIPE;
        assertThrows(
                IllegalArgumentException.class,
                () -> new Command(List.of(), Map.of(), true, null, pipe, pipe, null));
    }

    @Test
    void aTimeoutKillsTheWholeGroup() throws Exception {
        Path pids = folder.resolve("pids");
        Command family =
                shell(
                        "echo $$ >> pids; sleep 1000 & echo $! >> pids; "
                                + "sh -c 'echo $$ >> pids; sleep 1000 & echo $! >> pids; wait' & "
                                + "cat")
                        .directory(folder);
        try (var process = family.start()) {
            until(() -> lines(pids) == 4);
            assertThrows(
                    TimeoutException.class,
                    () -> process.communicate(new byte[0], Duration.ofMillis(20)));
            untilGone(pids);
        }
        var timeout = assertThrows(TimeoutException.class, () -> family.run("", Duration.ofMillis(20)));
        assertEquals("sh did not exit within the timeout", timeout.getMessage());
        untilGone(pids);
    }

    /**
     * Kills a process whose parent has exited. The process is no longer a descendant, but holds the
     * pipe.
     */
    @Test
    void killsWhatOutlivedTheProgramThatStartedIt() throws Exception {
        Path pids = folder.resolve("pids");
        Command orphan = shell("sleep 0.5; sh -c 'sleep 1000 & echo $! >> pids'").directory(folder);
        // On a busy machine, the program may be killed before it has started the process.
        for (var time = Duration.ofSeconds(1); lines(pids) == 0; time = time.multipliedBy(2)) {
            Duration limit = time;
            assertThrows(TimeoutException.class, () -> orphan.run("", limit));
        }
        untilGone(pids);
        try (var process = orphan.start()) {
            assertEquals(new Exited(0), process.waitFor());
        }
        untilGone(pids);
        assertEquals(2, lines(pids));
    }

    /**
     * Kills a process that executes another program. During execve(2), its environment cannot be
     * read.
     */
    @RepeatedTest(100)
    void killsWhatBecomesAnotherProgram() throws Exception {
        Path pids = folder.resolve("pids");
        Files.writeString(folder.resolve("again"), "exec sh again");
        Command orphan = shell("sh again >again.log 2>&1 & echo $! >> pids").directory(folder);
        try (var process = orphan.start()) {
            process.waitFor();
            process.kill();
        }
        untilGone(pids);
    }

    /**
     * Checks that parents are killed first. Each parent starts another child when it sees that its
     * child has exited.
     */
    @RepeatedTest(10)
    void killsParentsBeforeTheirChildren() throws Exception {
        Path pids = folder.resolve("pids");
        String restarting = "while :; do sleep 1000 & echo $! >> pids; wait; done";
        String many = "for i in 1 2 3 4 5 6 7 8 9; do (" + restarting + ") & done; wait";
        try (var process = shell(many).directory(folder).start()) {
            until(() -> lines(pids) == 9);
            process.kill();
            untilGone(pids);
            assertEquals(9, lines(pids));
        }
    }

    /** The call returns only when all processes have closed the output. */
    @Test
    void readsWhatIsWrittenAfterTheEndOfTheProgram() throws Exception {
        Output output = shell("sleep 0.5; (sleep 0.3; echo late; echo e >&2) & echo early").run();
        assertEquals("early\nlate\n", output.text());
        assertArrayEquals("e\n".getBytes(), output.stderr());
    }

    @Test
    void leavesAloneWhatOutlivesItInPeace() throws Exception {
        Path pids = folder.resolve("pids");
        shell("sleep 1000 < /dev/null > /dev/null 2>&1 & echo $! >> pids").directory(folder).run();
        var daemon = ProcessHandle.of(Long.parseLong(Files.readString(pids).strip())).orElseThrow();
        assertTrue(daemon.isAlive());
        daemon.destroyForcibly();
        untilGone(pids);
    }

    @Test
    void terminatesThoseThatListen() throws Exception {
        Command listening =
                shell("trap 'echo asked; exit 4' TERM; echo ready; while :; do sleep 0.01; done");
        try (var process = listening.start()) {
            var reader = process.reader(StandardCharsets.UTF_8);
            assertEquals("ready", reader.readLine());
            assertThrows(TimeoutException.class, () -> process.waitFor(Duration.ofMillis(1)));
            process.terminate();
            assertEquals("asked", reader.readLine());
            assertEquals(new Exited(4), process.waitFor(LONG));
        }
    }

    @Test
    void outputThatNeverEndsIsAnErrorAtAMaximum() throws Exception {
        Command yes = Command.of("yes").maxOutput(100_000);
        assertThrows(OutputLimitException.class, () -> yes.run("", LONG));
        assertThrows(
                OutputLimitException.class,
                () -> shell("yes >&2").maxOutput(100_000).run("", LONG));
        assertThrows(OutputLimitException.class, () -> Command.of("yes").run("", LONG));
        // Writes slowly, so that no maximum is reached on a machine on which the timeout is late.
        assertThrows(
                TimeoutException.class,
                () ->
                        shell("while echo y; do sleep 0.01; done")
                                .maxOutput(Integer.MAX_VALUE)
                                .run("", Duration.ofMillis(20)));
        Command zeros = Command.of("head", "-c", "100000", "/dev/zero").maxOutput(100_000);
        assertEquals(100_000, zeros.run("", LONG).stdout().length);
        assertThrows(IllegalArgumentException.class, () -> zeros.maxOutput(0));
    }

    @Test
    void errorsBeyondTheMaximumAreReadUpToIt() throws Exception {
        try (var process = shell("yes >&2").maxOutput(100_000).start()) {
            byte[] kept = process.stderr().readNBytes(100_000);
            assertEquals(100_000, kept.length);
            assertThrows(OutputLimitException.class, () -> process.stderr().readAllBytes());
        }
    }

    /**
     * Checks that no method waits for a process that cannot be killed, such as a process of another
     * user.
     */
    @Test
    void whatCannotBeKilledIsNotWaitedFor() {
        Command command = Command.of("sleep", "1000");
        var group = ProcessGroup.mark(new HashMap<>());
        var unkillable = new UnkillableProcess();
        long start = System.nanoTime();
        var process = new RunningProcess(command, unkillable, group);
        assertThrows(
                TimeoutException.class,
                () -> process.communicate(new byte[0], Duration.ofMillis(20)));
        process.close();
        assertTrue(System.nanoTime() - start < LONG.toNanos());
        assertTrue(process.isAlive());
        unkillable.end.countDown();
    }

    /** Closing standard input writes the buffered bytes. */
    @Test
    void whatDoesNotReadItsInputIsNotWaitedFor() throws Exception {
        Command command = Command.of("sleep", "1000");
        var unkillable = new UnkillableProcess();
        long start = System.nanoTime();
        var process =
                new RunningProcess(command, unkillable, ProcessGroup.mark(new HashMap<>()));
        process.stdin().write(1);
        process.close();
        assertTrue(System.nanoTime() - start < LONG.toNanos());
        assertTrue(process.isAlive());
        unkillable.end.countDown();
    }

    @Test
    void aReadOfASilentProgramEndsAtItsTimeout() throws Exception {
        var command = shell("read line; echo \"$line\"; echo \"error: $line\" >&2; read line");
        var briefly = Duration.ofMillis(20);
        try (var process = command.start()) {
            for (int attempt = 0; attempt < 2; attempt++) {
                assertThrows(TimeoutException.class, () -> process.readLine(briefly));
                assertThrows(TimeoutException.class, () -> process.readErrorLine(briefly));
            }
            process.write("é\n".getBytes(StandardCharsets.UTF_8), LONG);
            assertEquals("é", process.readLine(LONG));
            assertEquals("error: é", process.readErrorLine(LONG));
            var timeout = assertThrows(TimeoutException.class, () -> process.readLine(briefly));
            assertEquals("sh did not write a line within the timeout", timeout.getMessage());
            process.closeInput();
            assertNull(process.readLine(LONG));
            assertNull(process.readErrorLine(LONG));
        }
        var process = command.start();
        assertThrows(TimeoutException.class, () -> process.readLine(briefly));
        process.close(); // Kills it, and waits only for a second.
        until(() -> !process.isAlive());
    }

    @Test
    void aWriteToAProgramThatDoesNotReadEndsAtItsTimeout() throws Exception {
        var command = shell("while [ ! -e go ]; do sleep 0.01; done; wc -c").directory(folder);
        byte[] tooMuch = new byte[1 << 20];
        try (var process = command.start()) {
            var timeout =
                    assertThrows(
                            TimeoutException.class, () -> process.write(tooMuch, Duration.ofMillis(20)));
            assertEquals("sh did not read its input within the timeout", timeout.getMessage());
            assertThrows(IOException.class, () -> process.write(new byte[1], LONG));
            Files.createFile(folder.resolve("go"));
            process.closeInput(); // Waits for the rest.
            assertEquals(tooMuch.length, Integer.parseInt(process.readLine(LONG).strip()));
        }
    }

    /**
     * Checks that a thread that waits for errors holds no monitor. Before Java 24, a virtual thread
     * that waits in a monitor pins its carrier thread.
     */
    @Test
    void waitingForErrorsHoldsNoMonitor() throws Exception {
        try (var process = shell("read line; echo error >&2").start()) {
            var reader = new Thread(() -> readQuietly(process.stderr()));
            reader.start();
            until(() -> reader.getState() == Thread.State.WAITING);
            assertFalse(
                    Stream.of(reader.getStackTrace())
                            .anyMatch(frame -> frame.getClassName().equals("java.lang.Object")));
            process.closeInput();
            reader.join();
        }
    }

    private static void readQuietly(InputStream stream) {
        try {
            stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A pipe whose writers wait until the program ends, and then fail. */
    private static final class FullPipe extends OutputStream {
        private final CountDownLatch end;

        FullPipe(CountDownLatch end) {
            this.end = end;
        }

        @Override
        public void write(int each) throws IOException {
            RunningProcess.uninterrupted(
                    () -> {
                        end.await();
                        return null;
                    });
            throw new IOException("Broken pipe");
        }
    }

    /** A process that SIGKILL does not reach, with pipes that nobody closes. */
    private static final class UnkillableProcess extends Process {
        final CountDownLatch end = new CountDownLatch(1);
        private final OutputStream stdin = new BufferedOutputStream(new FullPipe(end));

        @Override
        public OutputStream getOutputStream() {
            return stdin;
        }

        @Override
        public InputStream getInputStream() {
            return new SilentStream();
        }

        @Override
        public InputStream getErrorStream() {
            return new SilentStream();
        }

        @Override
        public int waitFor() throws InterruptedException {
            end.await();
            return 0;
        }

        @Override
        public boolean waitFor(long time, TimeUnit unit) throws InterruptedException {
            return end.await(time, unit);
        }

        @Override
        public int exitValue() {
            throw new IllegalThreadStateException("it runs");
        }

        @Override
        public boolean isAlive() {
            return end.getCount() > 0;
        }

        @Override
        public void destroy() {}

        @Override
        public Stream<ProcessHandle> descendants() {
            return Stream.empty();
        }

        @Override
        public ProcessHandle toHandle() {
            return (ProcessHandle)
                    Proxy.newProxyInstance(
                            ProcessHandle.class.getClassLoader(),
                            new Class<?>[] {ProcessHandle.class},
                            (handle, method, arguments) ->
                                    method.getName().equals("hashCode") ? (Object) 1 : false);
        }

        private final class SilentStream extends InputStream {
            @Override
            public int read() {
                try {
                    end.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                return -1;
            }
        }
    }

    /** Uses a separate JVM, because the test holds the JVM's system calls. */
    @Test
    void aStartThatHangsEndsAtItsTimeout() throws Exception {
        Path hold = folder.resolve("hold_calls");
        Path ada = Path.of("src", "test", "c", "held_calls.c");
        Path java = Path.of("src", "test", "c", "hold_calls.c");
        Command.of("cc", "-pthread", "-o", hold.toString(), java.toString(), ada.toString())
                .run()
                .orThrow();
        Path jvm = Path.of(System.getProperty("java.home"), "bin", "java");
        String[] commandLine = {
            jvm.toString(),
            "-cp",
            System.getProperty("java.class.path"),
            HangingStarts.class.getName(),
            Files.createDirectory(folder.resolve("held")).toString(),
        };
        Output output = Command.of(hold.toString(), commandLine).run("", LONG);
        assertTrue(
                output.status().isSuccess(),
                () -> new String(output.stderr(), StandardCharsets.UTF_8));
    }

    /**
     * Starts a program whose output is a FIFO. Opening the FIFO for writing blocks until it is
     * opened for reading.
     */
    @Test
    void killsWhatStartsAfterItsTimeout() throws Exception {
        Path pipe = folder.resolve("pipe");
        Command.of("mkfifo", pipe.toString()).run().orThrow();
        Command late = shell("sleep 1000 & sleep 1000").stdout(Redirect.to(pipe.toFile()));
        assertThrows(TimeoutException.class, () -> late.start(Duration.ofMillis(20)));
        try (var reader = Files.newInputStream(pipe)) {
            assertEquals(0, reader.readAllBytes().length); // Ends when all writers have exited.
        }
        assertThrows(TimeoutException.class, () -> late.run("", Duration.ofMillis(20)));
        Files.newInputStream(pipe).close();
    }

    @Test
    void anInterruptEndsAStartThatHangs() throws Exception {
        Path pipe = folder.resolve("pipe");
        Command.of("mkfifo", pipe.toString()).run().orThrow();
        Thread.currentThread().interrupt();
        assertThrows(
                InterruptedException.class,
                () -> shell("sleep 1000").stdout(Redirect.to(pipe.toFile())).run());
        Files.newInputStream(pipe).close();
    }

    @Test
    void closingKills() throws Exception {
        var process = Command.of("sleep", "1000").start();
        process.close();
        assertEquals(new Signaled(9), process.waitFor());
        process.close();
        process.kill();
    }

    @Test
    void closingKeepsAnInterrupt() throws Exception {
        Path pids = folder.resolve("pids");
        var process = shell("sleep 1000 & echo $! >> pids; wait").directory(folder).start();
        until(() -> lines(pids) == 1);
        Thread.currentThread().interrupt();
        process.close();
        assertTrue(Thread.interrupted());
        untilGone(pids);
    }

    @Test
    void anInterruptEndsTheWaitAndTheProgram() throws Exception {
        Path pids = folder.resolve("pids");
        var failures = new ArrayList<Throwable>();
        var runner =
                new Thread(
                        () ->
                                failures.add(
                                        assertThrows(
                                                InterruptedException.class,
                                                () ->
                                                        shell("echo $$ >> pids; sleep 1000")
                                                                .directory(folder)
                                                                .run())));
        runner.start();
        until(() -> lines(pids) == 1);
        runner.interrupt();
        runner.join();
        assertEquals(1, failures.size());
        untilGone(pids);
    }

    @Test
    void anInterruptEndsReadingErrors() throws Exception {
        try (var process = Command.of("sleep", "1000").start()) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedIOException.class, process.stderr()::read);
            assertTrue(Thread.interrupted());
        }
    }

    private static List<String> list(Iterable<String> lines) {
        var list = new ArrayList<String>();
        lines.forEach(list::add);
        return list;
    }

    private static int lines(Path file) {
        try {
            return Files.exists(file) ? Files.readAllLines(file).size() : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void untilGone(Path pids) throws Exception {
        for (String pid : Files.readAllLines(pids)) {
            until(() -> isGone(Path.of("/proc", pid, "stat")));
        }
    }

    /**
     * Returns true if the process has exited. A zombie counts as exited, because init, which
     * adopted it, may reap it later.
     */
    private static boolean isGone(Path stat) {
        try {
            String text = Files.readString(stat);
            return text.charAt(text.lastIndexOf(')') + 2) == 'Z';
        } catch (IOException e) {
            return true;
        }
    }

    static long pipes() {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.filter(ProcessTest::isPipe).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isPipe(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("pipe:");
        } catch (IOException e) {
            return false; // The descriptor of the listing itself.
        }
    }

    static void until(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            Thread.sleep(1);
        }
    }
}
