// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A program started by {@link Command#start}. Use a try-with-resources statement.
 *
 * <ul>
 *   <li>Piped standard error is read in the background from the start, so a program never blocks
 *       because nobody reads its errors. Unread errors are stored in memory, up to {@link
 *       Command#maxOutput}; redirect the errors of a long-running program to a file.
 *   <li>To write and read concurrently, {@link #feed} the input and read the output, or use {@link
 *       #communicate} for both.
 *   <li>Java's streams have no timeouts. For a dialog with a program that may stop responding, use
 *       {@link #write}, {@link #readLine} and {@link #readErrorLine}, which have timeouts.
 *   <li>A pipe ends when all processes that hold it have closed it. A process that outlives the
 *       program and inherited its output keeps the pipe open.
 *   <li>When the program exits, Java closes a pipe that nobody reads, keeping its content. Anything
 *       that other processes write to the pipe later is lost. {@link #communicate} reads from the
 *       time of its call.
 *   <li>The JVM waits for every child, so no child remains as a zombie.
 * </ul>
 *
 * <p>If a stream is not piped, its method returns an empty stream, or a stream that rejects writes.
 * A stream must not be used by multiple threads concurrently; the other methods are thread-safe.
 */
public final class RunningProcess implements AutoCloseable {

    private static final Duration KILL_TIMEOUT = Duration.ofSeconds(1);

    private final Command command;
    private final Process process;
    private final ProcessGroup group;
    private final DrainedStream stderr;

    /** The background threads that read or write pipes. Guarded by the list's own monitor. */
    private final List<Future<Void>> background = new ArrayList<>();

    private boolean isFed;
    private @Nullable DrainedStream drained; // Standard output; null until it is read in the background.
    private @Nullable BufferedReader reader;
    private @Nullable Charset encoding;

    /**
     * True once {@link #stdin} was called: its caller may have written to the buffer of the stream.
     */
    private volatile boolean isInputUsed;

    // Calls with a timeout.
    private final TimedCalls<Void> writes;
    private final TimedCalls<String> lineReads;
    private final TimedCalls<String> errorLineReads;
    private @Nullable BufferedReader errorReader;

    RunningProcess(Command command, Process process, ProcessGroup group) {
        this.command = command;
        this.process = process;
        this.group = group;
        String program = command.commandLine().get(0);
        writes = new TimedCalls<>(program + " did not read its input within the timeout");
        lineReads = new TimedCalls<>(program + " did not write a line within the timeout");
        errorLineReads = new TimedCalls<>(program + " did not write an error line within the timeout");
        stderr = new DrainedStream(process.getErrorStream(), command.maxOutput());
        background.add(stderr.ended());
    }

    /**
     * Returns the process ID.
     *
     * @return the process ID
     */
    public long pid() {
        return process.pid();
    }

    /**
     * Returns true if the program has not exited.
     *
     * @return true if the program is running
     */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Returns the buffered standard input of the program. Flush it after writing, and close it to
     * signal the end of the input.
     *
     * @return the stream
     */
    public OutputStream stdin() {
        isInputUsed = true;
        return process.getOutputStream();
    }

    /**
     * Returns the standard output of the program.
     *
     * @return the stream
     */
    public InputStream stdout() {
        return process.getInputStream();
    }

    /**
     * Returns the standard error of the program.
     *
     * @return the stream
     */
    public InputStream stderr() {
        return stderr;
    }

    /**
     * Returns a writer for standard input. Characters that the encoding cannot represent cause an
     * exception.
     *
     * @param encoding the encoding
     * @return a new writer
     */
    public BufferedWriter writer(Charset encoding) {
        return new BufferedWriter(new OutputStreamWriter(stdin(), encoding.newEncoder()));
    }

    /**
     * Returns a reader of standard output. Output that is not valid in the encoding causes an
     * exception. Each call returns the same reader, because the reader buffers.
     *
     * @param encoding the encoding
     * @return the reader
     * @throws IllegalStateException if this method was called before with another encoding
     */
    public synchronized BufferedReader reader(Charset encoding) {
        if (reader == null) {
            reader = buffered(stdout(), encoding);
            this.encoding = encoding;
        }
        if (!encoding.equals(this.encoding)) {
            throw new IllegalStateException("standard output is already being read as " + this.encoding);
        }
        return reader;
    }

    /**
     * Returns the lines of standard output in UTF-8, without line terminators, as they arrive. Each
     * loop continues where the previous one stopped. An {@link IOException} is thrown as an {@link
     * java.io.UncheckedIOException}.
     *
     * @return the lines
     */
    public Iterable<String> lines() {
        return lines(StandardCharsets.UTF_8);
    }

    /**
     * Returns the lines of standard output. See {@link #lines()}.
     *
     * @param encoding the encoding
     * @return the lines
     */
    public Iterable<String> lines(Charset encoding) {
        return () -> reader(encoding).lines().iterator();
    }

    /**
     * Writes bytes to standard input and flushes it, with a timeout.
     *
     * @param bytes the bytes, which must not be changed after a timeout
     * @param timeout the maximum time to wait
     * @throws IOException if the program has closed its input, or has not read all bytes of a call
     *     that timed out
     * @throws InterruptedException if this thread is interrupted
     * @throws TimeoutException if the program does not read its input within {@code timeout}. The
     *     bytes are still written once it reads
     */
    public void write(byte[] bytes, Duration timeout)
            throws IOException, InterruptedException, TimeoutException {
        Future<Void> earlier = writes.pending();
        if (earlier != null && !earlier.isDone()) {
            throw new IOException("the program has not read the previous input");
        }
        var deadline = new Deadline(timeout);
        writes.finish(deadline);
        OutputStream stdin = stdin();
        writes.call(
                () -> {
                    stdin.write(bytes);
                    stdin.flush();
                    return null;
                },
                deadline);
    }

    /**
     * Reads the next line of standard output in UTF-8, with a timeout.
     *
     * @param timeout the maximum time to wait
     * @return the line without its terminator; null at the end of the output
     * @throws IOException if the output cannot be read, or is not valid UTF-8
     * @throws InterruptedException if this thread is interrupted
     * @throws TimeoutException if there is no line within {@code timeout}. The next call returns the
     *     line that arrives later; until then, do not use {@link #reader}, {@link #lines} or {@link
     *     #stdout}
     * @throws IllegalStateException if standard output is already read in another encoding
     */
    public @Nullable String readLine(Duration timeout)
            throws IOException, InterruptedException, TimeoutException {
        BufferedReader output = reader(StandardCharsets.UTF_8);
        return lineReads.call(output::readLine, new Deadline(timeout));
    }

    /**
     * Reads the next line of standard error in UTF-8, with a timeout. Do not use {@link #stderr} as
     * well, because this method buffers.
     *
     * @param timeout the maximum time to wait
     * @return the line without its terminator; null at the end of the errors
     * @throws IOException if the errors cannot be read, or are not valid UTF-8
     * @throws InterruptedException if this thread is interrupted
     * @throws TimeoutException if there is no line within {@code timeout}. The next call returns the
     *     line that arrives later
     */
    public @Nullable String readErrorLine(Duration timeout)
            throws IOException, InterruptedException, TimeoutException {
        return errorLineReads.call(errorReader()::readLine, new Deadline(timeout));
    }

    private synchronized BufferedReader errorReader() {
        if (errorReader == null) {
            errorReader = buffered(stderr, StandardCharsets.UTF_8);
        }
        return errorReader;
    }

    private static BufferedReader buffered(InputStream stream, Charset encoding) {
        return new BufferedReader(new InputStreamReader(stream, encoding.newDecoder()));
    }

    /**
     * Closes standard input, and leaves the output open. Closing it again has no effect.
     *
     * @throws IOException if buffered input cannot be written
     */
    public void closeInput() throws IOException {
        stdin().close();
    }

    /**
     * Copies a source to standard input in the background, and then closes standard input. The
     * program may exit or close its input before it has read everything; the rest is then
     * discarded.
     *
     * @param source the stream to copy
     * @return a future that completes when the source was copied or the rest was discarded; it
     *     fails with an {@link IOException} of the source. If it is cancelled, the source and standard
     *     input are closed in the background
     * @throws IllegalStateException if standard input is not piped or is already being fed
     */
    public Future<Void> feed(InputStream source) {
        if (command.stdin() != Redirect.PIPE) {
            throw new IllegalStateException("standard input is not piped");
        }
        synchronized (background) {
            if (isFed) {
                throw new IllegalStateException("standard input is already being fed");
            }
            isFed = true;
            FutureTask<Void> feeding = feeding(source);
            Streams.run(feeding);
            background.add(feeding);
            return feeding;
        }
    }

    private FutureTask<Void> feeding(InputStream source) {
        return new FutureTask<>(() -> copy(source)) {
            @Override
            protected void done() {
                if (isCancelled()) { // Possibly before the copy has begun.
                    Streams.run(
                            () -> {
                                closeQuietly(stdin());
                                closeQuietly(source);
                            });
                }
            }
        };
    }

    private @Nullable Void copy(InputStream source) throws IOException {
        byte[] chunk = new byte[1 << 16];
        try (source) {
            int count;
            while ((count = source.read(chunk)) >= 0) {
                try {
                    stdin().write(chunk, 0, count);
                    stdin().flush();
                } catch (IOException e) {
                    break; // EPIPE: the program has closed its input.
                }
            }
        } finally {
            closeQuietly(stdin());
        }
        return null;
    }

    /**
     * Writes and closes standard input, reads all output concurrently, and waits until the program
     * has exited and its output is closed.
     *
     * @param input the standard input; empty if it is not piped
     * @return the exit status and the output
     * @throws IOException if the output cannot be read
     * @throws InterruptedException if this thread is interrupted; the program is then killed
     */
    public Output communicate(byte[] input) throws IOException, InterruptedException {
        try {
            return communicate(input, Deadline.never());
        } catch (TimeoutException e) {
            throw new AssertionError("292 years have passed", e);
        }
    }

    /**
     * Communicates with the program as {@link #communicate(byte[])} does, with a timeout.
     *
     * @param input the standard input; empty if it is not piped
     * @param timeout the maximum time
     * @return the exit status and the output
     * @throws IOException if the output cannot be read
     * @throws InterruptedException if this thread is interrupted; the program is then killed
     * @throws TimeoutException if the program takes longer than {@code timeout}; it is then killed
     */
    public Output communicate(byte[] input, Duration timeout)
            throws IOException, InterruptedException, TimeoutException {
        return communicate(input, new Deadline(timeout));
    }

    Output communicate(byte[] input, Deadline deadline)
            throws IOException, InterruptedException, TimeoutException {
        try {
            if (command.stdin() == Redirect.PIPE) {
                feed(new ByteArrayInputStream(input));
            } else if (input.length > 0) {
                throw new IllegalArgumentException("input was given, but standard input is not piped");
            }
            DrainedStream output = drainOutput();
            String program = command.commandLine().get(0);
            String timeoutMessage = program + " did not exit within the timeout";
            await(output.ended(), deadline, timeoutMessage);
            output.checkFailure();
            await(stderr.ended(), deadline, timeoutMessage);
            stderr.checkFailure();
            ExitStatus status = waitFor(deadline.left());
            return new Output(program, status, output.unread(), stderr.unread());
        } catch (Throwable e) {
            kill();
            throw e;
        }
    }

    private DrainedStream drainOutput() {
        synchronized (background) {
            if (drained == null) {
                drained = new DrainedStream(stdout(), command.maxOutput());
                background.add(drained.ended());
            }
            return drained;
        }
    }

    /**
     * Waits until the program has exited.
     *
     * @return the exit status
     * @throws InterruptedException if this thread is interrupted
     */
    public ExitStatus waitFor() throws InterruptedException {
        return ExitStatus.of(process.waitFor());
    }

    /**
     * Waits until the program has exited.
     *
     * @param timeout the maximum time to wait
     * @return the exit status
     * @throws InterruptedException if this thread is interrupted
     * @throws TimeoutException if the program does not exit within {@code timeout}; it continues to
     *     run
     */
    public ExitStatus waitFor(Duration timeout) throws InterruptedException, TimeoutException {
        if (!process.waitFor(TimeUnit.NANOSECONDS.convert(timeout), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException(command.commandLine().get(0) + " did not exit within the timeout");
        }
        return ExitStatus.of(process.exitValue());
    }

    /**
     * Sends SIGTERM to the program and all processes that it started. They may exit later, or
     * ignore the signal.
     *
     * @see #kill which processes are found
     */
    public void terminate() {
        group.terminate(process);
    }

    /**
     * Sends SIGKILL to the program and all processes that it started, at any depth, including
     * processes that have outlived the program. To find them, each start sets an environment
     * variable {@code APPSERVER_GROUP_...}. A process is not found if it has cleared its
     * environment and its parent has exited, or if it belongs to another user.
     */
    public void kill() {
        group.kill(process);
    }

    /**
     * Kills the program, as {@link #kill} does, if it has not exited; waits for its exit, and
     * closes its pipes. If the program has exited, the processes that it started continue to run.
     * But if a pipe is read or fed in the background, and one of these processes keeps it open for
     * more than another second, all of these processes are killed. A program that cannot be killed,
     * for example because it now runs as another user, is left running after a few seconds.
     */
    @Override
    public void close() {
        if (process.isAlive()) {
            kill();
        }
        uninterrupted(() -> process.waitFor(KILL_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS));
        if (!uninterrupted(this::isBackgroundEnded)) {
            kill();
            uninterrupted(this::isBackgroundEnded);
        }
        closePipes();
    }

    private boolean isBackgroundEnded() throws InterruptedException {
        List<Future<?>> works;
        synchronized (background) {
            works = new ArrayList<>(background);
        }
        Stream.of(writes, lineReads, errorLineReads)
                .map(TimedCalls::pending)
                .filter(Objects::nonNull)
                .forEach(works::add);
        var deadline = new Deadline(KILL_TIMEOUT);
        for (Future<?> work : works) {
            try {
                await(work, deadline, "the background threads have not ended");
            } catch (TimeoutException e) {
                return false;
            } catch (IOException e) {
                // The stream has failed, which its readers and the threads that wait for it notice.
            } catch (CancellationException e) {
                // The application has cancelled a feed, which closes its streams itself.
            }
        }
        return true;
    }

    /** Waits even if the thread is interrupted; the interrupt flag is then set again at the end. */
    static <T> T uninterrupted(Waiting<T> wait) {
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return wait.get();
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @FunctionalInterface
    interface Waiting<T> {
        T get() throws InterruptedException;
    }

    /** Closes the pipes. Background threads close the streams that they read or write. */
    private void closePipes() {
        boolean isStdinOurs;
        synchronized (background) {
            isStdinOurs = !isFed;
            if (drained == null) {
                closeQuietly(stdout());
            }
        }
        if (isStdinOurs) {
            closeInputQuietly();
        }
    }

    /**
     * Closes standard input. Closing writes buffered input, and waits for a write in progress. If the
     * program could not be killed and does not read, the wait ends. The stream is then closed as
     * soon as the program reads or exits.
     */
    private void closeInputQuietly() {
        OutputStream stdin = process.getOutputStream();
        if (!isInputUsed) {
            closeQuietly(stdin);
            return;
        }
        Future<Void> closing =
                Streams.start(
                        () -> {
                            closeQuietly(stdin);
                            return null;
                        });
        uninterrupted(() -> isEnded(closing));
    }

    private static boolean isEnded(Future<Void> work) throws InterruptedException {
        try {
            await(work, new Deadline(KILL_TIMEOUT), "the input was not closed");
            return true;
        } catch (IOException | TimeoutException e) {
            return false;
        }
    }

    static <T> T await(Future<T> work, Deadline deadline, String timeoutMessage)
            throws IOException, InterruptedException, TimeoutException {
        try {
            return work.get(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new TimeoutException(timeoutMessage);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
    }

    static void closeQuietly(AutoCloseable stream) {
        try {
            stream.close();
        } catch (Exception e) {
            // EPIPE: nobody can read the buffered input anymore.
        }
    }
}
