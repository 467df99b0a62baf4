// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Starts a program on a background thread, so that the caller can wait with a timeout. {@link
 * ProcessBuilder#start} returns when the program has been loaded, which takes forever if the
 * program, its directory or a file of its streams is on a file system that hangs.
 *
 * <p>The thread lives until the process has exited, because on Linux a process is the child of the
 * thread that created it. A program may request a signal for the exit of that thread
 * (PR_SET_PDEATHSIG). Moreover, while a start has not returned, the only child of its thread is the
 * process that hangs.
 */
final class PendingStart {

    private static final Path THREAD = Path.of("/proc/thread-self");
    private static final Duration KILL_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration KILL_INTERVAL = Duration.ofMillis(10);
    private static final Duration LATE_KILL_INTERVAL = Duration.ofSeconds(1);

    private final ProcessBuilder builder;
    private final ProcessGroup group;
    private final CompletableFuture<Process> started = new CompletableFuture<>();

    /** Completes when the background thread no longer starts or discards the process. */
    private final CompletableFuture<Void> settled = new CompletableFuture<>();

    /** The file that lists the children of the background thread; null without {@code /proc}. */
    private volatile @Nullable Path children;

    PendingStart(ProcessBuilder builder, ProcessGroup group) {
        this.builder = builder;
        this.group = group;
        Streams.start(this::start);
    }

    private @Nullable Void start() throws InterruptedException {
        Process process = null;
        try {
            children = childrenOfThread();
            process = builder.start();
            if (!started.complete(process)) {
                discard(process);
            }
        } catch (Throwable e) {
            started.completeExceptionally(e);
        } finally {
            settled.complete(null);
        }
        if (process != null) {
            process.waitFor();
        }
        return null;
    }

    private static @Nullable Path childrenOfThread() {
        try {
            return Path.of("/proc").resolve(Files.readSymbolicLink(THREAD)).resolve("children");
        } catch (IOException e) {
            return null;
        }
    }

    /**
     * Waits for the start. If this method throws, the process has been killed, unless it cannot be
     * killed within a second; then it is killed as soon as possible.
     */
    Process await(Deadline deadline)
            throws IOException, InterruptedException, TimeoutException {
        try {
            return started.get(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw failure(Objects.requireNonNull(e.getCause()));
        } catch (TimeoutException | InterruptedException e) {
            if (started.cancel(false)) {
                if (!RunningProcess.uninterrupted(() -> killHanging(new Deadline(KILL_TIMEOUT), KILL_INTERVAL))) {
                    // A busy machine may create the child later.
                    Streams.start(() -> killHanging(Deadline.never(), LATE_KILL_INTERVAL));
                }
            } else if (!started.isCompletedExceptionally()) {
                discard(started.join());
            }
            if (e instanceof TimeoutException) {
                throw new TimeoutException(builder.command().get(0) + " did not start within the timeout");
            }
            throw e;
        }
    }

    private static IOException failure(Throwable cause) {
        if (cause instanceof RuntimeException e) {
            throw e;
        }
        if (cause instanceof Error e) {
            throw e;
        }
        return (IOException) cause;
    }

    /**
     * Repeatedly kills the child whose start hangs. Returns true if the start ends before the
     * deadline.
     */
    private boolean killHanging(Deadline deadline, Duration interval) throws InterruptedException {
        while (deadline.nanosLeft() > 0) {
            hangingChild().ifPresent(ProcessHandle::destroyForcibly);
            try {
                settled.get(interval.toMillis(), TimeUnit.MILLISECONDS);
                return true;
            } catch (TimeoutException e) {
                // It may not have created its child yet.
            } catch (ExecutionException e) {
                throw new AssertionError(e);
            }
        }
        return false;
    }

    /**
     * Finds the child whose start hangs. Checks the list a second time, so that the handle cannot
     * belong to a later process with the same ID.
     */
    private Optional<ProcessHandle> hangingChild() {
        return childNumbers().stream()
                .flatMap(number -> ProcessHandle.of(number).stream())
                .filter(handle -> childNumbers().contains(handle.pid()))
                .findFirst();
    }

    private List<Long> childNumbers() {
        Path file = children;
        String text = file == null ? null : ProcessGroup.read(file);
        if (text == null || text.isBlank()) {
            return List.of();
        }
        return List.of(text.strip().split(" ")).stream().map(Long::valueOf).toList();
    }

    /** Kills a process that nobody waits for, with all processes that it started. */
    private void discard(Process process) {
        group.kill(process);
        RunningProcess.uninterrupted(
                () -> process.waitFor(KILL_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS));
        RunningProcess.closeQuietly(process.getOutputStream());
        RunningProcess.closeQuietly(process.getInputStream());
        RunningProcess.closeQuietly(process.getErrorStream());
    }
}
