// SPDX-License-Identifier: Apache-2.0
// Tests features that only servers have: sessions that end, and row locks.
package benchlab.appserver.retry;

import static benchlab.appserver.retry.TestDatabase.number;
import static benchlab.appserver.retry.TestDatabase.update;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.Stress;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

abstract class ServerTest extends DatabaseTest {

    /** The other transaction locks the row for longer than the timeout of the call. */
    @Test
    void aCallThatWaitsForALockEndsInTime() throws Exception {
        long start = System.nanoTime();
        try (Connection holder = database.connect()) {
            holder.setAutoCommit(false);
            add(holder, 1, 1);
            var error =
                    assertThrows(
                            SQLException.class,
                            () ->
                                    Retry.call(
                                            policy.timeout(Duration.ofMillis(500)),
                                            transactions,
                                            connection -> {
                                                add(connection, 1, 1);
                                                return null;
                                            }));
            assertEquals(Fault.CONNECTION_LOST, Faults.of(error));
            holder.rollback();
        }
        assertTrue(System.nanoTime() - start < LONG.toNanos());
        assertEquals(100, balance(1));
    }

    @Test
    void aSessionThatEndsBeforeTheCommitIsUnknown() throws Exception {
        assertThrows(
                OutcomeUnknownException.class,
                () -> Retry.call(policy, transactions, this::addAndEndSession));
        assertEquals(100, balance(1));
        assertEquals(1, faults(Fault.OUTCOME_UNKNOWN));
        assertEquals(
                "1",
                Retry.call(policy, transactions, KEYS.key("order"), this::addAndEndSession));
        assertEquals(101, balance(1));
    }

    private String addAndEndSession(Connection connection) throws SQLException {
        add(connection, 1, 1);
        if (metrics.statistics().retries() == 0) {
            long id = number(connection, database.sessionQuery());
            injector.beforeNextCommit(() -> database.execute(database.endSession(id)));
        }
        return "1";
    }

    /**
     * Tests a call whose first COMMIT may still be in transit: its outcome is unknown until an
     * attempt commits.
     */
    @Test
    void anOutcomeIsUnknownUntilAnAttemptCommits() {
        var sold = new SQLException("sold out", "45000");
        assertSame(sold, loseAndFail(OutcomeUnknownException.class, sold, 2).getCause());
    }

    /** Checks that a commit has no effect if it arrives after its client has given up. */
    @Test
    void aCommitAfterThatOfItsRetryIsRefused() throws Exception {
        try (Connection late = database.connect()) {
            late.setAutoCommit(false);
            add(late, 2, 1);
            assertEquals("101", addOnce("order 1"));
            var thrown =
                    assertThrows(
                            SQLException.class,
                            () -> KEYS.key("order 1").keepAndCommit(late, "late"));
            assertTrue(
                    "23505".equals(thrown.getSQLState()) || thrown.getErrorCode() == 1062,
                    thrown::toString);
        }
        assertEquals(100, balance(2));
    }

    /**
     * Checks that the rollback after a duplicate key frees the row, even if the transaction has
     * done nothing else.
     */
    @Test
    void aRollbackAfterADuplicateFreesItsRow() throws Exception {
        assertEquals("101", addOnce("order 1"));
        try (Connection late = database.connect()) {
            late.setAutoCommit(false);
            var key = KEYS.key("order 1");
            assertThrows(SQLException.class, () -> key.keepAndCommit(late, "late"));
            late.rollback();
            database.execute("DELETE FROM retry_key WHERE id = 'order 1'");
        }
    }

    /**
     * Checks that reading a stored result never has an unknown outcome, because the transaction has
     * changed nothing.
     */
    @Test
    void aReadOfAResultIsNeverOfUnknownOutcome() throws Exception {
        assertEquals("101", addOnce("order 1"));
        injector.afterNextCommit(DatabaseTest::lose);
        assertEquals("101", addOnce("order 1"));
        assertEquals(0, faults(Fault.OUTCOME_UNKNOWN));
    }

    @Test
    void aKeyIsLookedForOnlyAfterTheLastAttempt() throws Exception {
        assertEquals("101", addOnce("order 1"));
        var opened = new AtomicInteger();
        var counted =
                new Transactions(
                        () -> {
                            opened.incrementAndGet();
                            return database.connect();
                        });
        TransactionWork<String, SQLException> fails =
                connection -> {
                    throw new SQLException("a deadlock", "40P01");
                };
        assertEquals("101", Retry.call(policy, counted, KEYS.key("order 1"), fails));
        assertEquals(4, opened.get()); // 3 attempts, and one more connection for the key.
    }

    @Test
    void aSessionThatEndsInTheWorkIsRetried() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Retry.call(
                policy,
                transactions,
                connection -> {
                    if (runs.incrementAndGet() == 1) {
                        long id = number(connection, database.sessionQuery());
                        database.execute(database.endSession(id));
                    }
                    add(connection, 1, 1);
                    return runs;
                });
        assertEquals(2, runs.get());
        assertEquals(101, balance(1));
        assertEquals(1, faults(Fault.CONNECTION_LOST));
    }

    @Test
    void aDeadlockIsRetried() throws Exception {
        var bothLocked = new CyclicBarrier(2);
        Callable<Void> transfer = () -> transfer(bothLocked, 1, 2);
        Callable<Void> transferBack = () -> transfer(bothLocked, 2, 1);
        Stress.together(List.of(transfer, transferBack));
        assertEquals(100, balance(1));
        assertEquals(100, balance(2));
        assertDeadlocked();
        assertEquals(2, metrics.statistics().calls());
    }

    /**
     * Checks that a deadlock occurred at least once. It may occur more often, because PostgreSQL
     * may serve a retry before the transaction that waited for the rows. Calls that deadlock
     * therefore have many attempts.
     */
    private void assertDeadlocked() {
        long retries = metrics.statistics().retries();
        assertTrue(retries >= 1, () -> retries + " retries");
        assertEquals(retries, faults(Fault.DEADLOCK));
    }

    private Void transfer(CyclicBarrier bothLocked, int from, int to) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        return Retry.call(
                Policy.ofAttempts(1_000).deadline(LONG).metrics(metrics),
                transactions,
                connection -> {
                    add(connection, from, -1);
                    if (runs.incrementAndGet() == 1) {
                        await(bothLocked);
                    }
                    add(connection, to, 1);
                    return null;
                });
    }

    /**
     * Produces a deadlock: a transaction that is paused at its commit requests a row that another
     * transaction has locked.
     */
    @Test
    void aDeadlockIsMadeAtACommit() throws Exception {
        var bothLocked = new CyclicBarrier(2);
        Callable<Void> stopped = () -> addAndAsk(bothLocked);
        Callable<Void> other = () -> transfer(bothLocked, 2, 1);
        Stress.together(List.of(stopped, other));
        assertEquals(102, balance(1));
        assertEquals(99, balance(2));
        assertDeadlocked();
    }

    private Void addAndAsk(CyclicBarrier bothLocked) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        return Retry.call(
                Policy.ofAttempts(1_000).deadline(LONG).metrics(metrics),
                transactions,
                connection -> {
                    add(connection, 1, 1);
                    if (runs.incrementAndGet() == 1) {
                        injector.beforeNextCommit(
                                () -> {
                                    await(bothLocked);
                                    add(connection, 2, 0);
                                });
                    }
                    return null;
                });
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(120, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aLockThatIsNotFreeIsWaitedForAgain() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        try (Connection holder = database.connect()) {
            holder.setAutoCommit(false);
            add(holder, 1, 10);
            Retry.call(
                    policy,
                    transactions,
                    connection -> {
                        if (runs.incrementAndGet() == 2) {
                            holder.commit();
                        }
                        number(connection,
                                "SELECT balance FROM account WHERE id = 1 FOR UPDATE NOWAIT");
                        add(connection, 1, 1);
                        return null;
                    });
        }
        assertEquals(111, balance(1));
        assertEquals(1, faults(Fault.LOCK_TIMEOUT));
    }

    @Test
    void aKeyWaitsForTheTransactionThatPutsItThere() throws Exception {
        assertEquals("first", addWhileKeyIsHeld(Connection::commit));
        assertEquals(100, balance(1));
        assertEquals(0, metrics.statistics().retries());
    }

    @Test
    void aKeyThatWasRolledBackIsFree() throws Exception {
        assertEquals("101", addWhileKeyIsHeld(Connection::rollback));
        assertEquals(101, balance(1));
        assertEquals(0, metrics.statistics().retries());
    }

    @FunctionalInterface
    private interface End {
        void of(Connection transaction) throws SQLException;
    }

    private String addWhileKeyIsHeld(End end) throws Exception {
        try (Connection other = database.connect()) {
            other.setAutoCommit(false);
            update(other, "INSERT INTO retry_key VALUES ('order 1', 'first')");
            var call = new FutureTask<>(() -> addOnce("order 1"));
            new Thread(call).start();
            while (database.number(database.lockWaitsQuery()) == 0) {
                Thread.sleep(10);
            }
            end.of(other);
            return call.get();
        }
    }

    /**
     * Tests a snapshot that does not contain the key, because the outer transaction's first query
     * precedes the key.
     */
    @Test
    void aKeyThatTheSnapshotDoesNotHaveIsReadInTheNextAttempt() throws Exception {
        var outer =
                new Transactions(
                        () -> {
                            Connection connection = database.connect();
                            connection.setTransactionIsolation(
                                    Connection.TRANSACTION_REPEATABLE_READ);
                            return connection;
                        });
        String result =
                Retry.call(
                        policy,
                        outer,
                        connection -> {
                            number(connection, "SELECT balance FROM account WHERE id = 2");
                            addOnce("order 1");
                            return Retry.call(
                                    policy, outer, KEYS.key("order 1"), this::refuse);
                        });
        assertEquals("101", result);
        assertEquals(101, balance(1));
        assertEquals(1, faults(Fault.SERIALIZATION_FAILURE));
    }

    private String refuse(Connection connection) {
        throw new AssertionError("the key is there");
    }
}
