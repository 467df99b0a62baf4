// SPDX-License-Identifier: Apache-2.0
// A command line with its settings.
package benchlab.appserver.process;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeoutException;

/**
 * A program with its arguments and environment. A command is immutable: each method returns another
 * one, so it can be stored, shared and started repeatedly. No shell is involved: do not quote.
 *
 * @param commandLine the program (a path, or a name to search for in PATH) and its arguments
 * @param environment additional environment variables
 * @param isEnvironmentInherited true to pass the variables of this process, too
 * @param directory the working directory; null for that of this process
 * @param stdin the source of standard input; a pipe by default
 * @param stdout the destination of standard output; a pipe by default
 * @param stderr the destination of standard error; a pipe by default; null for that of standard
 *     output
 * @param maxOutput the maximum number of bytes of each stream that are kept in memory: those that
 *     {@link #run} and {@link RunningProcess#communicate} return, and unread errors. More is an
 *     {@link OutputLimitException}
 */
public record Command(
        List<String> commandLine,
        Map<String, String> environment,
        boolean isEnvironmentInherited,
        Path directory,
        Redirect stdin,
        Redirect stdout,
        Redirect stderr,
        int maxOutput) {

    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
    private static final int DEFAULT_MAX_OUTPUT = 1 << 26; // 64 MiB.

    public Command {
        commandLine = List.copyOf(commandLine);
        environment = Map.copyOf(environment);
        if (commandLine.isEmpty()) {
            throw new IllegalArgumentException("a command has a program");
        }
        Objects.requireNonNull(stdin, "stdin");
        Objects.requireNonNull(stdout, "stdout");
        if (maxOutput < 1) {
            throw new IllegalArgumentException("maxOutput must be at least 1: " + maxOutput);
        }
    }

    /** A command with the usual maximum of output, 64 MiB of each stream. */
    public Command(
            List<String> commandLine,
            Map<String, String> environment,
            boolean isEnvironmentInherited,
            Path directory,
            Redirect stdin,
            Redirect stdout,
            Redirect stderr) {
        this(
                commandLine,
                environment,
                isEnvironmentInherited,
                directory,
                stdin,
                stdout,
                stderr,
                DEFAULT_MAX_OUTPUT);
    }

    /**
     * A command with three pipes, and with the environment and the directory of this process.
     *
     * @param program a path, or a name to search for in PATH
     * @param arguments its arguments
     * @return the command
     */
    public static Command of(String program, String... arguments) {
        var commandLine = new ArrayList<>(List.of(program));
        commandLine.addAll(List.of(arguments));
        Redirect pipe = Redirect.PIPE;
        return new Command(commandLine, Map.of(), true, null, pipe, pipe, pipe);
    }

    /** This command with one more variable, which overrides an inherited one. */
    public Command environment(String name, String value) {
        var variables = new HashMap<>(environment);
        variables.put(name, value);
        return new Command(
                commandLine,
                variables,
                isEnvironmentInherited,
                directory,
                stdin,
                stdout,
                stderr,
                maxOutput);
    }

    /** This command with no variables but its own and the one of {@link RunningProcess#kill}. */
    public Command withoutInheritedEnvironment() {
        return new Command(
                commandLine, environment, false, directory, stdin, stdout, stderr, maxOutput);
    }

    public Command directory(Path path) {
        return new Command(
                commandLine, environment, isEnvironmentInherited, path, stdin, stdout, stderr, maxOutput);
    }

    public Command stdin(Redirect source) {
        return streams(source, stdout, stderr);
    }

    public Command stdout(Redirect destination) {
        return streams(stdin, destination, stderr);
    }

    public Command stderr(Redirect destination) {
        return streams(stdin, stdout, Objects.requireNonNull(destination));
    }

    /** Standard error goes where standard output goes, in the order of writing. */
    public Command stderrToStdout() {
        return streams(stdin, stdout, null);
    }

    private Command streams(Redirect source, Redirect output, Redirect errors) {
        return new Command(
                commandLine,
                environment,
                isEnvironmentInherited,
                directory,
                source,
                output,
                errors,
                maxOutput);
    }

    /** This command with another maximum of bytes that are kept of each stream. */
    public Command maxOutput(int bytes) {
        return new Command(
                commandLine,
                environment,
                isEnvironmentInherited,
                directory,
                stdin,
                stdout,
                stderr,
                bytes);
    }

    /** Starts it within a minute: {@link #start(Duration)}. */
    public RunningProcess start() throws StartException, InterruptedException, TimeoutException {
        return start(START_TIMEOUT);
    }

    /**
     * Starts it, and returns when the program has been loaded.
     *
     * @throws StartException if it cannot be started
     * @throws TimeoutException if that takes longer than {@code timeout}, as when the program, its
     *     directory or a file of its streams is on a file system that hangs. The program is killed
     *     then, which this waits for, up to a second. If it cannot be killed in that time, it is
     *     killed as soon as it has started
     * @throws InterruptedException if this thread is interrupted; the program is killed then, too
     */
    public RunningProcess start(Duration timeout)
            throws StartException, InterruptedException, TimeoutException {
        return start(new Deadline(timeout));
    }

    private RunningProcess start(Deadline deadline)
            throws StartException, InterruptedException, TimeoutException {
        var builder = new ProcessBuilder(commandLine);
        if (!isEnvironmentInherited) {
            builder.environment().clear();
        }
        builder.environment().putAll(environment);
        var group = ProcessGroup.mark(builder.environment());
        builder.directory(directory == null ? null : directory.toFile());
        builder.redirectInput(stdin).redirectOutput(stdout);
        if (stderr == null) {
            builder.redirectErrorStream(true);
        } else {
            builder.redirectError(stderr);
        }
        Process process;
        try {
            process = new PendingStart(builder, group).await(deadline);
        } catch (IOException e) {
            throw new StartException(commandLine.get(0), e);
        }
        try {
            return new RunningProcess(this, process, group);
        } catch (Throwable e) { // No thread for its errors.
            group.kill(process);
            throw e;
        }
    }

    /** Runs it to its end, however long that takes: {@link #run(byte[], Duration)}. */
    public Output run(byte[] input) throws IOException, InterruptedException {
        try {
            return run(input, Deadline.never());
        } catch (TimeoutException e) {
            throw new AssertionError("292 years have passed", e);
        }
    }

    /**
     * Runs it to its end without input, however long that takes: {@link #run(byte[], Duration)}.
     */
    public Output run() throws IOException, InterruptedException {
        return run(new byte[0]);
    }

    /** Runs it to its end with a text in UTF-8 as its input: {@link #run(byte[], Duration)}. */
    public Output run(String input, Duration timeout)
            throws IOException, InterruptedException, TimeoutException {
        return run(input.getBytes(StandardCharsets.UTF_8), timeout);
    }

    /**
     * Starts it, writes {@code input} to its standard input and reads its output at the same time,
     * and waits until it has ended and closed its output. A program that ends without reading all
     * of its input is no failure.
     *
     * <p>Whenever this throws, the program is gone, and so is what it started, if they can be
     * killed ({@link RunningProcess#kill}).
     *
     * @param input empty if standard input is not piped
     * @throws StartException if it cannot be started
     * @throws OutputLimitException if it writes more than {@link #maxOutput}; it is killed then
     * @throws IOException if its output cannot be read
     * @throws TimeoutException if it takes longer than {@code timeout}, its start included; it is
     *     killed then
     * @throws InterruptedException if this thread is interrupted; it is killed then
     */
    public Output run(byte[] input, Duration timeout)
            throws IOException, InterruptedException, TimeoutException {
        return run(input, new Deadline(timeout));
    }

    private Output run(byte[] input, Deadline deadline)
            throws IOException, InterruptedException, TimeoutException {
        try (RunningProcess process = start(deadline)) {
            return process.communicate(input, deadline);
        }
    }
}
