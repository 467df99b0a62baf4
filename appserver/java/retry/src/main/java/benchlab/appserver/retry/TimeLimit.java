// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
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
    private static final ScheduledExecutorService WATCHER =
            Executors.newSingleThreadScheduledExecutor(DAEMONS);

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
        end =
                WATCHER.schedule(
                        () -> THREADS.execute(() -> cutOff(connection)),
                        left(),
                        TimeUnit.NANOSECONDS);
        return connection;
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
        Future<?> opening = THREADS.submit(() -> open(source, opened));
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return opened.get(left(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
        } catch (TimeoutException e) {
            var late = new SQLException("no connection was opened within the time limit", "08001", e);
            if (!opened.completeExceptionally(late)) {
                return opened.join(); // It was opened just now.
            }
            opening.cancel(true);
            throw late;
        } catch (ExecutionException e) {
            throw failure(Objects.requireNonNull(e.getCause()));
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
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
        return (SQLException) cause;
    }

    private static void closeQuietly(Connection connection) {
        try (connection) {
            LOGGER.log(System.Logger.Level.DEBUG, "a connection was opened after the time limit");
        } catch (SQLException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "cannot close a connection", e);
        }
    }
}
