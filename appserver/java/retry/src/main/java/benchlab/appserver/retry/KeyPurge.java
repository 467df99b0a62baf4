// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Deletes expired keys of an {@link IdempotencyTable} periodically:
 *
 * <pre>{@code
 * try (var purge = new KeyPurge(keys, transactions, Duration.ofDays(7))) {
 *     purge.start(Duration.ofHours(1));
 *     …
 * }
 * }</pre>
 *
 * <p>A key is valid for at least {@code expiry}, and until the next purge. A call that is repeated
 * later takes effect again, so {@code expiry} must be longer than the time in which clients repeat
 * their calls. Multiple processes may purge the same table.
 */
public final class KeyPurge implements AutoCloseable {

    private static final System.Logger LOGGER = System.getLogger(KeyPurge.class.getName());
    private static final int MAX_ROWS = 1_000; // In one transaction, which locks them.

    private final IdempotencyTable table;
    private final Transactions transactions;
    private final Duration expiry;
    private final ScheduledExecutorService timer =
            Executors.newSingleThreadScheduledExecutor(
                    work -> {
                        var thread = new Thread(null, work, "idempotency-key-purge", 0, false);
                        thread.setDaemon(true);
                        return thread;
                    });

    /**
     * Creates a purge job. It does not run before {@link #start}.
     *
     * @param table the table
     * @param transactions transactions on the table's database
     * @param expiry the age from which keys are deleted, in whole seconds; at least 1 s
     */
    public KeyPurge(IdempotencyTable table, Transactions transactions, Duration expiry) {
        this.table = Objects.requireNonNull(table, "table");
        this.transactions = Objects.requireNonNull(transactions, "transactions");
        if (expiry.toSeconds() < 1) {
            throw new IllegalArgumentException("expiry must be at least 1 s: " + expiry);
        }
        this.expiry = expiry;
    }

    /**
     * Deletes the expired keys, at most 1,000 in each transaction.
     *
     * @return the number of deleted keys
     * @throws SQLException if the database reports an error
     */
    public long purge() throws SQLException {
        long deleted = 0;
        int rows;
        do {
            rows =
                    transactions.<Integer, SQLException>run(
                            connection -> table.deleteOlder(connection, expiry, MAX_ROWS));
            deleted += rows;
        } while (rows == MAX_ROWS && !Thread.currentThread().isInterrupted());
        return deleted;
    }

    /**
     * Purges in a thread of this job now, and again after each interval. A failure is logged, and
     * does not end the job.
     *
     * @param interval the time from the end of a purge to the next one
     */
    public void start(Duration interval) {
        if (interval.isNegative() || interval.isZero()) {
            throw new IllegalArgumentException("interval must be positive: " + interval);
        }
        timer.scheduleWithFixedDelay(
                this::purgeAndLog, 0, interval.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void purgeAndLog() {
        try {
            long deleted = purge();
            LOGGER.log(System.Logger.Level.DEBUG, "expired idempotency keys deleted: {0}", deleted);
        } catch (SQLException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.WARNING, "cannot delete expired idempotency keys", e);
        }
    }

    /** Ends the job. Interrupts a purge that is running, and does not wait for its end. */
    @Override
    public void close() {
        timer.shutdownNow();
    }
}
