// SPDX-License-Identifier: Apache-2.0
// The end of the time that a call may take.
package benchlab.appserver.retry;

import java.sql.Connection;
import java.sql.SQLException;
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

/**
 * Cuts a connection off at a time, so that whatever waits for its server fails. A driver may wait
 * in one that it opens, which nobody has yet: another thread waits there, and closes what comes too
 * late.
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
    private ScheduledFuture<?> end; // Null: there is no limit, or no connection.

    /**
     * A limit from now on, until this is closed.
     *
     * @param nanos {@code Long.MAX_VALUE} for none
     */
    TimeLimit(long nanos) {
        this.nanos = nanos;
    }

    /**
     * Opens a connection, and cuts it off when the time is over.
     *
     * @throws SQLException 08001, if there is none in time
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
            LOGGER.log(System.Logger.Level.WARNING, "a connection was not cut off", e);
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
            var late = new SQLException("there was no connection in time", "08001", e);
            if (!opened.completeExceptionally(late)) {
                return opened.getNow(null); // It came just now.
            }
            opening.cancel(true);
            throw late;
        } catch (ExecutionException e) {
            throw failure(e.getCause());
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
            LOGGER.log(System.Logger.Level.DEBUG, "a connection came too late");
        } catch (SQLException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "a connection was not closed", e);
        }
    }
}
