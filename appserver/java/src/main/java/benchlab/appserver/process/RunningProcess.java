// SPDX-License-Identifier: Apache-2.0
// A program that was started.
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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A program that was started by {@link Command#start}. Hold it in a try-with-resources statement.
 *
 * <ul>
 *   <li>Standard error, if it is piped, is read in the background from the start on: a program
 *       never waits because nobody reads its errors. What is not read stays in memory, up to {@link
 *       Command#maxOutput}; send the errors of a program that runs for ever to a file.
 *   <li>To write and read at the same time, {@link #feed} the input and read the output, or let
 *       {@link #communicate} do both.
 *   <li>A pipe ends when all who have it close it: a program that outlives the one that was
 *       started, and has its output, keeps it open.
 *   <li>Java closes a pipe that nobody reads when the program ends, and keeps what is in it: what
 *       others write into it later is lost. {@link #communicate} reads from its call on.
 *   <li>The JVM waits for every child, so that none stays as a zombie.
 * </ul>
 *
 * <p>Where a stream is not piped, its method gives one that is empty, or refuses to be written to.
 * A stream is for one thread at a time; the other methods are for any.
 */
public final class RunningProcess implements AutoCloseable {

    private static final Duration KILL_TIMEOUT = Duration.ofSeconds(1);

    private final Command command;
    private final Process process;
    private final ProcessGroup group;
    private final DrainedStream stderr;

    /** Background threads that read or write pipes. Guards itself. */
    private final List<Future<Void>> background = new ArrayList<>();

    private boolean isFed;
    private DrainedStream drained; // Standard output, once it is read in the background.
    private BufferedReader reader;
    private Charset encoding;

    RunningProcess(Command command, Process process, ProcessGroup group) {
        this.command = command;
        this.process = process;
        this.group = group;
        stderr = new DrainedStream(process.getErrorStream(), command.maxOutput());
        background.add(stderr.ended());
    }

    /** The number of the process. */
    public long pid() {
        return process.pid();
    }

    /** True if it has not ended. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Its standard input, buffered: flush what it is to see. Closing it is the end of its input.
     */
    public OutputStream stdin() {
        return process.getOutputStream();
    }

    /** Its standard output. */
    public InputStream stdout() {
        return process.getInputStream();
    }

    /** The program's standard error. */
    public InputStream stderr() {
        return stderr;
    }

    /** Writes text to its standard input; a character that the encoding lacks is an exception. */
    public BufferedWriter writer(Charset encoding) {
        return new BufferedWriter(new OutputStreamWriter(stdin(), encoding.newEncoder()));
    }

    /**
     * Reads its standard output as text; what is no text in this encoding is an exception. Each
     * call gives the same reader, since it reads ahead.
     *
     * @throws IllegalStateException if it was called with another encoding before
     */
    public synchronized BufferedReader reader(Charset encoding) {
        if (reader == null) {
            reader = new BufferedReader(new InputStreamReader(stdout(), encoding.newDecoder()));
            this.encoding = encoding;
        }
        if (!this.encoding.equals(encoding)) {
            throw new IllegalStateException("it is read as " + this.encoding);
        }
        return reader;
    }

    /**
     * The lines of its standard output in UTF-8, without their ends, as they come. Each loop goes
     * on where the one before it stopped. An {@link IOException} comes as an {@link
     * java.io.UncheckedIOException}.
     */
    public Iterable<String> lines() {
        return lines(StandardCharsets.UTF_8);
    }

    /** The lines of its standard output: {@link #lines()}. */
    public Iterable<String> lines(Charset encoding) {
        return () -> reader(encoding).lines().iterator();
    }

    /** Ends its input, and leaves its output open. Closing it again does nothing. */
    public void closeInput() throws IOException {
        stdin().close();
    }

    /**
     * Writes all of {@code source} to its standard input in the background, and ends its input. The
     * program may end or close its input before it has read all; then the rest is left unread.
     *
     * @return done when all is written or left; an {@link IOException} of the source is its failure
     * @throws IllegalStateException if standard input is not piped, or was fed before
     */
    public Future<Void> feed(InputStream source) {
        if (command.stdin() != Redirect.PIPE) {
            throw new IllegalStateException("its standard input is not piped");
        }
        synchronized (background) {
            if (isFed) {
                throw new IllegalStateException("it is fed already");
            }
            isFed = true;
            Future<Void> feeding = Streams.start(() -> copy(source));
            background.add(feeding);
            return feeding;
        }
    }

    private Void copy(InputStream source) throws IOException {
        byte[] chunk = new byte[1 << 16];
        try (source) {
            int count;
            while ((count = source.read(chunk)) >= 0) {
                try {
                    stdin().write(chunk, 0, count);
                    stdin().flush();
                } catch (IOException e) {
                    break; // EPIPE: it does not want more.
                }
            }
        } finally {
            closeQuietly(stdin());
        }
        return null;
    }

    /**
     * Writes {@code input} and ends the input, reads all output at the same time, and waits until
     * the output and the program have ended.
     *
     * @param input empty if standard input is not piped
     * @throws IOException if its output cannot be read
     * @throws InterruptedException if this thread is interrupted; the program is killed then
     */
    public Output communicate(byte[] input) throws IOException, InterruptedException {
        try {
            return communicate(input, Deadline.never());
        } catch (TimeoutException e) {
            throw new AssertionError("292 years have passed", e);
        }
    }

    /**
     * As {@link #communicate(byte[])}, with a limit.
     *
     * @throws TimeoutException if it takes longer than {@code timeout}; the program is killed then
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
                throw new IllegalArgumentException("input, and standard input is not piped");
            }
            DrainedStream output = drainOutput();
            await(output.ended(), deadline);
            output.checkFailure();
            await(stderr.ended(), deadline);
            stderr.checkFailure();
            ExitStatus status = waitFor(deadline.left());
            return new Output(command.commandLine().get(0), status, output.unread(), stderr.unread());
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

    /** Waits until it has ended. */
    public ExitStatus waitFor() throws InterruptedException {
        return ExitStatus.of(process.waitFor());
    }

    /**
     * Waits until it has ended.
     *
     * @throws TimeoutException if it has not within {@code timeout}; it goes on
     */
    public ExitStatus waitFor(Duration timeout) throws InterruptedException, TimeoutException {
        if (!process.waitFor(TimeUnit.NANOSECONDS.convert(timeout), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException(command.commandLine().get(0) + " has not ended in time");
        }
        return ExitStatus.of(process.exitValue());
    }

    /**
     * Asks the program and all that it started to end: SIGTERM. They may do so later, or not.
     *
     * @see #kill what belongs to it
     */
    public void terminate() {
        group.terminate(process);
    }

    /**
     * Kills the program and all that it started, in any depth, and also what has outlived it:
     * SIGKILL. Only a program that has thrown away its environment and whose parent has ended is
     * not found, and one of another user. Each start sets a variable for that, {@code
     * APPSERVER_GROUP_...}.
     */
    public void kill() {
        group.kill(process);
    }

    /**
     * Kills it, as {@link #kill} does, if it has not ended; waits for its end, and closes its
     * pipes. If it has ended, what it left behind stays, unless that holds a pipe that is read or
     * fed in the background for another second. A program that cannot be killed, as one that has
     * become another user's, is left after a second.
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
        List<Future<Void>> works;
        synchronized (background) {
            works = List.copyOf(background);
        }
        var deadline = new Deadline(KILL_TIMEOUT);
        for (Future<Void> work : works) {
            try {
                await(work, deadline);
            } catch (TimeoutException e) {
                return false;
            } catch (IOException e) {
                // It has ended, which its readers and waiters notice.
            }
        }
        return true;
    }

    /** Waits on when it is interrupted, and keeps the interrupt for later. */
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

    /** Background threads close the streams that they read or write. */
    private void closePipes() {
        synchronized (background) {
            if (!isFed) {
                closeQuietly(stdin());
            }
            if (drained == null) {
                closeQuietly(stdout());
            }
        }
    }

    private static void await(Future<Void> work, Deadline deadline)
            throws IOException, InterruptedException, TimeoutException {
        try {
            work.get(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
    }

    static void closeQuietly(AutoCloseable stream) {
        try {
            stream.close();
        } catch (Exception e) {
            // EPIPE: what was buffered has no reader any more.
        }
    }
}
