// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Aborts a connection after a time limit, so that a thread that waits for the server fails. Because
 * a driver may also hang while it opens a connection, another thread opens it, and closes it if it
 * is established too late.
 */
final class TimeLimit implements AutoCloseable {

    private static final System.Logger LOGGER = System.getLogger(TimeLimit.class.getName());
    private static final ThreadFactory DAEMONS =
            work -> {
                var thread = new Thread(null, work, "retry-time-limit", 0, false);
                thread.setDaemon(true);
                thread.setContextClassLoader(null);
                return thread;
            };
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(DAEMONS);
    private static final ScheduledThreadPoolExecutor WATCHER = watcher();

    private final long nanos;
    private final long start = System.nanoTime();
    private @Nullable ScheduledFuture<?> end; // Null if there is no limit or no connection.

    /**
     * Starts a time limit, which ends when this object is closed.
     *
     * @param nanos the limit in nanoseconds; {@code Long.MAX_VALUE} for no limit
     */
    TimeLimit(long nanos) {
        this.nanos = nanos;
    }

    private static ScheduledThreadPoolExecutor watcher() {
        var executor = new ScheduledThreadPoolExecutor(1, DAEMONS);
        executor.setRemoveOnCancelPolicy(true); // Most transactions end in time.
        return executor;
    }

    /** Returns the number of open connections with a limit. */
    static int watched() {
        return WATCHER.getQueue().size();
    }

    /**
     * Opens a connection, which is aborted at the end of the time limit.
     *
     * @throws SQLException with SQLSTATE 08001 if the connection is not opened in time
     */
    Connection open(Transactions.Source source) throws SQLException {
        if (nanos == Long.MAX_VALUE) {
            return source.open();
        }
        Connection connection = openInTime(source);
        Runnable cut = withLoader(() -> cutOff(connection));
        end = WATCHER.schedule(() -> THREADS.execute(cut), left(), TimeUnit.NANOSECONDS);
        return connection;
    }

    /** Returns work that runs with the context class loader of the thread that calls this method. */
    private static Runnable withLoader(Runnable work) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        return () -> {
            Thread thread = Thread.currentThread();
            thread.setContextClassLoader(loader);
            try {
                work.run();
            } finally {
                thread.setContextClassLoader(null);
            }
        };
    }

    private long left() {
        return nanos - (System.nanoTime() - start);
    }

    @Override
    public void close() {
        if (end != null) {
            end.cancel(false);
        }
    }

    private static void cutOff(Connection connection) {
        try {
            connection.abort(THREADS);
        } catch (SQLException | RuntimeException | AbstractMethodError e) {
            LOGGER.log(System.Logger.Level.WARNING, "cannot abort a connection", e);
        }
    }

    private Connection openInTime(Transactions.Source source) throws SQLException {
        var opened = new CompletableFuture<Connection>();
        Future<?> opening = THREADS.submit(withLoader(() -> open(source, opened)));
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return await(opened, opening);
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

    /** Waits for a connection until the end of the time limit, and then cancels its opening. */
    Connection await(CompletableFuture<Connection> opened, Future<?> opening)
            throws SQLException, InterruptedException {
        try {
            return opened.get(left(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            var late = new SQLException("no connection was opened within the time limit", "08001", e);
            if (opened.completeExceptionally(late)) {
                opening.cancel(true);
                throw late;
            }
            return resultOf(opened); // It was opened, or failed, just now.
        } catch (ExecutionException e) {
            throw failure(Objects.requireNonNull(e.getCause()));
        }
    }

    private static Connection resultOf(CompletableFuture<Connection> opened) throws SQLException {
        try {
            return opened.join();
        } catch (CompletionException e) {
            throw failure(e.getCause() == null ? e : e.getCause());
        }
    }

    private static void open(Transactions.Source source, CompletableFuture<Connection> opened) {
        try {
            Connection connection = source.open();
            if (!opened.complete(connection)) {
                closeQuietly(connection);
            }
        } catch (Throwable failure) {
            opened.completeExceptionally(failure);
        }
    }

    private static SQLException failure(Throwable cause) {
        if (cause instanceof RuntimeException unchecked) {
            throw unchecked;
        } else if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof SQLException error ? error : new SQLException(cause);
    }

    private static void closeQuietly(Connection connection) {
        try (connection) {
            LOGGER.log(System.Logger.Level.DEBUG, "a connection was opened after the time limit");
        } catch (SQLException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "cannot close a connection", e);
        }
    }
}
