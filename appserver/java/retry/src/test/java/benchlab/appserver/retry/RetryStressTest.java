// SPDX-License-Identifier: Apache-2.0
// Checks that each call takes effect once under contention, for the duration that Stress defines.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.Stress;
import benchlab.appserver.resilience.Backoff;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RetryStressTest {

    private static final int THREADS = 4;

    private final RetryMetrics metrics = new RetryMetrics();

    /** Combines versions, locks, and responses that are lost before and after the commit. */
    @Test
    void eachCallHasOneEffect() throws Exception {
        try (var database = new TestDatabase.Sqlite()) {
            database.execute("CREATE TABLE retry_key (id text PRIMARY KEY, result text)");
            database.execute("CREATE TABLE record (value integer, version integer)");
            database.execute("INSERT INTO record VALUES (0, 0)");
            var injector = new FaultInjector(database::connect);
            var transactions = new Transactions(injector);
            injector.afterNextCommit(RetryStressTest::lose);
            var numbers = new AtomicLong();
            var deadline = new Stress.Deadline(Stress.part(1));
            Callable<Long> task =
                    () -> {
                        long calls = 0;
                        do {
                            breakSometimes(injector);
                            addOnce(transactions, Long.toString(numbers.incrementAndGet()));
                            calls++;
                        } while (!deadline.passed());
                        return calls;
                    };
            long calls = sum(Stress.together(Collections.nCopies(THREADS, task)));
            assertEquals(calls, database.number("SELECT value FROM record"));
            assertEquals(calls, database.number("SELECT count(*) FROM retry_key"));
            RetryStatistics statistics = metrics.statistics();
            assertEquals(calls, statistics.calls());
            assertEquals(0, statistics.givenUp());
            long faults = sum(statistics.faults().values().stream().toList());
            assertEquals(faults, statistics.retries());
            assertTrue(statistics.faults().get(Fault.OUTCOME_UNKNOWN) > 0, statistics.toString());
        }
    }

    private static void breakSometimes(FaultInjector injector) {
        switch (ThreadLocalRandom.current().nextInt(4)) {
            case 0 -> injector.beforeNextCommit(RetryStressTest::lose);
            case 1 -> injector.afterNextCommit(RetryStressTest::lose);
            default -> {}
        }
    }

    private static void lose() throws SQLException {
        throw new SQLException("the response was lost", "08006");
    }

    private void addOnce(Transactions transactions, String key) throws SQLException {
        Policy policy =
                Policy.ofAttempts(Integer.MAX_VALUE)
                        .deadline(Duration.ofHours(1))
                        .backoff(Fault.OUTCOME_UNKNOWN, new Backoff(Duration.ofMillis(0), Duration.ofMillis(2)))
                        .backoff(Fault.BUSY, new Backoff(Duration.ofMillis(0), Duration.ofMillis(2)))
                        .metrics(metrics);
        Retry.call(policy, transactions, new IdempotencyTable("retry_key").key(key), this::add);
    }

    private String add(Connection connection) throws SQLException {
        long version = TestDatabase.number(connection, "SELECT version FROM record");
        try (PreparedStatement statement =
                connection.prepareStatement(
                        "UPDATE record SET value = value + 1, version = version + 1"
                                + " WHERE version = ?")) {
            statement.setLong(1, version);
            Versions.executeVersioned(statement);
        }
        return "added";
    }

    private static long sum(List<Long> values) {
        return values.stream().mapToLong(n -> n).sum();
    }
}
