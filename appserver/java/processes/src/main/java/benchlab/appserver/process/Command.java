// SPDX-License-Identifier: Apache-2.0
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
import org.jspecify.annotations.Nullable;

/**
 * A program with its arguments and environment. Commands are immutable: each method returns a new
 * command, so a command can be stored, shared and started repeatedly. No shell is involved, so do
 * not quote arguments.
 *
 * @param commandLine the program (a path, or a name to look up in PATH) and its arguments
 * @param environment additional environment variables
 * @param isEnvironmentInherited true to also pass the variables of this process
 * @param directory the working directory; null for the directory of this process
 * @param stdin the source of standard input; a pipe by default
 * @param stdout the destination of standard output; a pipe by default
 * @param stderr the destination of standard error; a pipe by default; null to redirect it to
 *     standard output
 * @param maxOutput the maximum number of bytes of each stream to store in memory. This limits the
 *     output that {@link #run} and {@link RunningProcess#communicate} return, and unread standard
 *     error. Exceeding it throws an {@link OutputLimitException}
 */
public record Command(
        List<String> commandLine,
        Map<String, String> environment,
        boolean isEnvironmentInherited,
        @Nullable Path directory,
        Redirect stdin,
        Redirect stdout,
        @Nullable Redirect stderr,
        int maxOutput) {

    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
    private static final int DEFAULT_MAX_OUTPUT = 1 << 26; // 64 MiB.

    public Command {
        commandLine = List.copyOf(commandLine);
        environment = Map.copyOf(environment);
        if (commandLine.isEmpty()) {
            throw new IllegalArgumentException("the command line is empty: pass the program first");
        }
        Objects.requireNonNull(stdin, "stdin");
        Objects.requireNonNull(stdout, "stdout");
        if (maxOutput < 1) {
            throw new IllegalArgumentException("maxOutput must be at least 1: " + maxOutput);
        }
    }

    /**
     * Creates a command with the default output limit of 64 MiB for each stream.
     *
     * @param commandLine the program and its arguments
     * @param environment additional environment variables
     * @param isEnvironmentInherited true to also pass the variables of this process
     * @param directory the working directory; null for the directory of this process
     * @param stdin the source of standard input
     * @param stdout the destination of standard output
     * @param stderr the destination of standard error; null to redirect it to standard output
     */
    public Command(
            List<String> commandLine,
            Map<String, String> environment,
            boolean isEnvironmentInherited,
            @Nullable Path directory,
            Redirect stdin,
            Redirect stdout,
            @Nullable Redirect stderr) {
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
     * Creates a command with three pipes, and with the environment and working directory of this
     * process.
     *
     * @param program a path, or a name to look up in PATH
     * @param arguments the arguments of the program
     * @return the command
     */
    public static Command of(String program, String... arguments) {
        var commandLine = new ArrayList<>(List.of(program));
        commandLine.addAll(List.of(arguments));
        Redirect pipe = Redirect.PIPE;
        return new Command(commandLine, Map.of(), true, null, pipe, pipe, pipe);
    }

    /**
     * Returns a copy with one more environment variable, which overrides an inherited variable with
     * the same name.
     *
     * @param name the name of the variable
     * @param value the value of the variable
     * @return the command
     */
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

    /**
     * Returns a copy without inherited environment variables. Only the command's own variables and
     * the marker for {@link RunningProcess#kill} remain.
     *
     * @return the command
     */
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

    /**
     * Returns a copy that redirects standard error to standard output, in the order of writing.
     *
     * @return the command
     */
    public Command stderrToStdout() {
        return streams(stdin, stdout, null);
    }

    private Command streams(Redirect source, Redirect output, @Nullable Redirect errors) {
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

    /**
     * Returns a copy with a different output limit.
     *
     * @param bytes the maximum number of bytes of each stream to store in memory
     * @return the command
     */
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

    /**
     * Starts the program with a timeout of one minute. See {@link #start(Duration)}.
     *
     * @return the running program
     * @throws StartException if the program cannot be started
     * @throws InterruptedException if this thread is interrupted
     * @throws TimeoutException if the start takes longer than a minute
     */
    public RunningProcess start() throws StartException, InterruptedException, TimeoutException {
        return start(START_TIMEOUT);
    }

    /**
     * Starts the program, and returns when it has been loaded.
     *
     * @param timeout the maximum time for the start
     * @return the running program
     * @throws StartException if the program cannot be started
     * @throws TimeoutException if the start takes longer than {@code timeout}, for example because
     *     the program, its directory or a file of its streams is on a file system that hangs. The
     *     program is then killed, which takes up to a second. If it cannot be killed in that time,
     *     it is killed as soon as possible
     * @throws InterruptedException if this thread is interrupted; the program is then killed, too
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
        } catch (Throwable e) { // No thread is available to read standard error.
            group.kill(process);
            throw e;
        }
    }

    /**
     * Runs the program until it exits, without a timeout. See {@link #run(byte[], Duration)}.
     *
     * @param input the standard input; empty if it is not piped
     * @return the exit status and the output
     * @throws IOException if the program cannot be started or its output cannot be read
     * @throws InterruptedException if this thread is interrupted; the program is then killed
     */
    public Output run(byte[] input) throws IOException, InterruptedException {
        try {
            return run(input, Deadline.never());
        } catch (TimeoutException e) {
            throw new AssertionError("292 years have passed", e);
        }
    }

    /**
     * Runs the program without input until it exits, without a timeout. See {@link #run(byte[],
     * Duration)}.
     *
     * @return the exit status and the output
     * @throws IOException if the program cannot be started or its output cannot be read
     * @throws InterruptedException if this thread is interrupted; the program is then killed
     */
    public Output run() throws IOException, InterruptedException {
        return run(new byte[0]);
    }

    /**
     * Runs the program until it exits, with text in UTF-8 as its input. See {@link #run(byte[],
     * Duration)}.
     *
     * @param input the standard input
     * @param timeout the maximum time, including the start
     * @return the exit status and the output
     * @throws IOException if the program cannot be started or its output cannot be read
     * @throws InterruptedException if this thread is interrupted; the program is then killed
     * @throws TimeoutException if the program takes too long; it is then killed
     */
    public Output run(String input, Duration timeout)
            throws IOException, InterruptedException, TimeoutException {
        return run(input.getBytes(StandardCharsets.UTF_8), timeout);
    }

    /**
     * Starts the program, writes its standard input and reads its output concurrently, and waits
     * until it has exited and its output is closed. A program that exits without reading all of its
     * input is not an error.
     *
     * <p>If this method throws, it has killed the program and all processes that the program
     * started, as far as they can be killed ({@link RunningProcess#kill}).
     *
     * @param input the standard input; empty if it is not piped
     * @param timeout the maximum time, including the start
     * @return the exit status and the output
     * @throws StartException if the program cannot be started
     * @throws OutputLimitException if the program writes more than {@link #maxOutput}; it is then
     *     killed
     * @throws IOException if the output cannot be read
     * @throws TimeoutException if the program takes longer than {@code timeout}; it is then killed
     * @throws InterruptedException if this thread is interrupted; the program is then killed
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
