// SPDX-License-Identifier: Apache-2.0
// Tests the final state of a transaction and its connection after each kind of ending.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import benchlab.appserver.resilience.Backoff;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class TransactionsTest {

    private final FakeConnections connections = new FakeConnections();
    private final Transactions transactions = new Transactions(connections);
    private final RetryMetrics metrics = new RetryMetrics();
    private final Policy policy = withoutPauses(Policy.ofAttempts(3)).metrics(metrics);

    private static Policy withoutPauses(Policy policy) {
        Policy changed = policy;
        for (Fault fault : policy.backoffs().keySet()) {
            changed = changed.backoff(fault, Backoff.NONE);
        }
        return changed;
    }

    private static SQLException lost() {
        return new SQLException("lost", "08006");
    }

    private static SQLException deadlock() {
        return new SQLException("deadlock", "40P01");
    }

    private static List<String> committed(String connection) {
        return List.of("open", "false", "commit", "true", "close").stream()
                .map(call -> connection + "." + call)
                .toList();
    }

    @Test
    void whatReturnsIsCommitted() throws Exception {
        assertEquals("done", transactions.run(connection -> "done"));
        assertEquals(committed("c1"), connections.calls);
    }

    @Test
    void theAutoCommitModeIsLeftAsItWas() throws Exception {
        connections.haveAutoCommit = false;
        transactions.run(connection -> "done");
        assertEquals(List.of("c1.open", "c1.commit", "c1.close"), connections.calls);
        assertThrows(
                SQLException.class,
                () ->
                        transactions.run(
                                connection -> {
                                    throw deadlock();
                                }));
        assertEquals(
                List.of("c2.open", "c2.rollback", "c2.close"), connections.calls.subList(3, 6));
    }

    @Test
    void whatThrowsIsRolledBack() {
        var failure = new IOException();
        assertSame(
                failure,
                assertThrows(
                        IOException.class,
                        () ->
                                transactions.run(
                                        connection -> {
                                            throw failure;
                                        })));
        assertEquals(
                List.of("c1.open", "c1.false", "c1.rollback", "c1.true", "c1.close"),
                connections.calls);
        assertFalse(transactions.isOpen());
    }

    @Test
    void aFailedRollbackCommitsNothingAndHidesNothing() {
        connections.failNext("rollback", lost());
        var failure = deadlock();
        assertSame(
                failure,
                assertThrows(
                        SQLException.class,
                        () ->
                                transactions.run(
                                        connection -> {
                                            throw failure;
                                        })));
        assertEquals(
                List.of("c1.open", "c1.false", "c1.rollback", "c1.close"), connections.calls);
    }

    private void assertClosedAfter(Exception failure, Class<? extends Exception> expected) {
        var thrown = assertThrows(expected, () -> transactions.run(connection -> "done"));
        assertSame(failure, thrown == failure ? thrown : thrown.getCause());
        assertEquals(
                List.of("c1.open", "c1.false", "c1.commit", "c1.rollback", "c1.true", "c1.close"),
                connections.calls);
        assertFalse(transactions.isOpen());
    }

    /**
     * Tests a commit that fails with an unchecked exception, which a pool or the action of an
     * injector may throw.
     */
    @Test
    void aCommitThatFailsUncheckedIsRolledBackAndClosed() {
        var failure = new IllegalStateException("the pool is closed");
        connections.failNext("commit", failure);
        assertClosedAfter(failure, IllegalStateException.class);
    }

    @Test
    void aCommitThatIsLostUncheckedIsUnknown() {
        var failure = new IllegalStateException(lost());
        connections.failNext("commit", failure);
        assertClosedAfter(failure, OutcomeUnknownException.class);
    }

    @Test
    void anUncheckedFailureOfTheRollbackOrTheCloseHidesNothing() throws Exception {
        var failure = deadlock();
        connections.failNext("commit", failure);
        connections.failNext("rollback", new IllegalStateException());
        assertSame(
                failure,
                assertThrows(SQLException.class, () -> transactions.run(connection -> "done")));
        assertEquals("c1.close", connections.calls.get(connections.calls.size() - 1));
        connections.failNext("close", new IllegalStateException());
        assertEquals("done", transactions.run(connection -> "done"));
    }

    @Test
    void aSessionIsEvictedOnlyAfterAFailure() throws Exception {
        var perAttempt =
                transactions.sessionPerAttempt(
                        connection -> connection.abort(Runnable::run));
        connections.failNext("commit", new SQLException("serialization", "40001"));
        Retry.call(policy, perAttempt, connection -> "done");
        assertEquals(
                List.of("rollback", "true", "abort", "close").stream()
                        .map(call -> "c1." + call)
                        .toList(),
                connections.calls.subList(3, 7));
        assertEquals(committed("c2"), connections.calls.subList(7, 12));
    }

    @Test
    void aTransactionInsideOneWithASessionPerAttemptIsAPartOfIt() throws Exception {
        var perAttempt = transactions.sessionPerAttempt(connection -> {});
        perAttempt.run(outer -> transactions.run(inner -> assertSameConnection(outer, inner)));
        assertEquals(committed("c1"), connections.calls);
    }

    private static String assertSameConnection(Connection outer, Connection inner) {
        assertSame(outer, inner);
        return "done";
    }

    @Test
    void aSessionThatCannotBeEvictedIsClosedAndHidesNothing() {
        var perAttempt =
                transactions.sessionPerAttempt(
                        connection -> {
                            throw new ClassCastException("not the pool's");
                        });
        connections.failNext("rollback", lost());
        var failure = deadlock();
        connections.failNext("commit", failure);
        assertSame(
                failure,
                assertThrows(SQLException.class, () -> perAttempt.run(connection -> "done")));
        assertEquals("c1.close", connections.calls.get(connections.calls.size() - 1));
    }

    @Test
    void eachAttemptHasAConnectionOfItsOwn() throws Exception {
        connections.failNext("commit", new SQLException("serialization", "40001"));
        Retry.call(policy, transactions, connection -> "done");
        assertEquals(
                List.of("c1.open", "c1.false", "c1.commit", "c1.rollback", "c1.true", "c1.close"),
                connections.calls.subList(0, 6));
        assertEquals(committed("c2"), connections.calls.subList(6, 11));
        assertEquals(1, metrics.statistics().faults().get(Fault.SERIALIZATION_FAILURE));
    }

    @Test
    void aConnectionLostBeforeTheCommitIsRetried() throws Exception {
        connections.failNext("open", lost());
        assertEquals("done", Retry.call(policy, transactions, connection -> "done"));
        connections.failNext("setAutoCommit", lost());
        assertEquals("done", Retry.call(policy, transactions, connection -> "done"));
        assertEquals(2, metrics.statistics().faults().get(Fault.CONNECTION_LOST));
        assertEquals(2, metrics.statistics().retries());
    }

    @Test
    void aConnectionLostInTheCommitIsNot() {
        SQLException failure = lost();
        connections.failNext("commit", failure);
        var unknown =
                assertThrows(
                        OutcomeUnknownException.class,
                        () -> Retry.call(policy, transactions, connection -> "done"));
        assertSame(failure, unknown.getCause());
        assertEquals(1, metrics.statistics().faults().get(Fault.OUTCOME_UNKNOWN));
        assertEquals(0, metrics.statistics().retries());
        assertEquals(1, metrics.statistics().givenUp());
    }

    @Test
    void aConnectionLostInTheCommitIsIfTheWorkIsRepeatable() throws Exception {
        connections.failNext("commit", lost());
        Policy repeatable = policy.repeatable(true);
        assertEquals("done", Retry.call(repeatable, transactions, connection -> "done"));
        assertEquals(1, metrics.statistics().retries());
    }

    @Test
    void aConnectionLostAfterTheCommitIsNoFailure() throws Exception {
        connections.failNext("close", lost());
        assertEquals("done", Retry.call(policy, transactions, connection -> "done"));
        assertEquals(0, metrics.statistics().retries());
    }

    /** Tests a server that accepts connections but never responds. */
    @Test
    @Timeout(600)
    void aServerThatIsSilentEndsTheCallInTime() throws Exception {
        try (var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String url = "jdbc:postgresql://127.0.0.1:%d/x?user=x".formatted(server.getLocalPort());
            var silent = new Transactions(() -> DriverManager.getConnection(url));
            var limited = Policy.ofAttempts(3).metrics(metrics).timeout(Duration.ofMillis(300));
            var error =
                    assertThrows(
                            SQLException.class,
                            () -> Retry.call(limited, silent, connection -> "unreachable"));
            assertEquals("08001", error.getSQLState());
            assertEquals(0, metrics.statistics().retries());
        }
    }

    /** Tests connections that block until they are aborted. */
    @Test
    @Timeout(600)
    void aCommitThatIsSilentEndsInTimeAndIsUnknown() {
        var isSilent = new CountDownLatch(1);
        var silent = new Transactions(() -> silentConnection(isSilent));
        Exception thrown = null;
        // On a busy machine, a call may not reach its commit in time.
        for (var time = Duration.ofMillis(300); isSilent.getCount() > 0; time = time.multipliedBy(2)) {
            var limited = Policy.ofAttempts(3).timeout(time);
            thrown = assertThrows(Exception.class, () -> Retry.call(limited, silent, open -> "done"));
        }
        assertEquals(OutcomeUnknownException.class, thrown.getClass());
        assertThrows(IllegalArgumentException.class, () -> Policy.ofAttempts(3).timeout(Duration.ZERO));
        var tooLong = Duration.ofSeconds(Long.MAX_VALUE);
        assertThrows(ArithmeticException.class, () -> Policy.ofAttempts(3).timeout(tooLong));
    }

    @Test
    void aLimitLeavesNothingBehind() throws Exception {
        var limited = policy.timeout(Duration.ofDays(1));
        int before = TimeLimit.watched();
        Retry.call(
                limited,
                transactions,
                connection -> {
                    assertEquals(before + 1, TimeLimit.watched());
                    return null;
                });
        assertEquals(before, TimeLimit.watched());
    }

    @Test
    void aConnectionIsOpenedWithTheClassLoaderOfTheCaller() throws Exception {
        Thread caller = Thread.currentThread();
        ClassLoader before = caller.getContextClassLoader();
        var loader = new AtomicReference<ClassLoader>();
        var recording =
                new Transactions(
                        () -> {
                            loader.set(Thread.currentThread().getContextClassLoader());
                            return connections.open();
                        });
        try (var application = new URLClassLoader(new URL[0], before)) {
            caller.setContextClassLoader(application);
            Retry.call(policy.timeout(Duration.ofDays(1)), recording, connection -> null);
            assertSame(application, loader.get());
        } finally {
            caller.setContextClassLoader(before);
        }
    }

    /** Tests a source that fails at the moment at which the limit ends. */
    @Test
    void aFailureAtTheEndOfTheLimitIsThrownAsItIs() {
        var failure = new SQLException("no route", "08001");
        var failing =
                new CompletableFuture<Connection>() {
                    @Override
                    public Connection get(long time, TimeUnit unit) throws TimeoutException {
                        completeExceptionally(failure);
                        throw new TimeoutException();
                    }
                };
        try (var limit = new TimeLimit(1)) {
            var opening = new FutureTask<>(() -> null);
            assertSame(failure, assertThrows(SQLException.class, () -> limit.await(failing, opening)));
        }
    }

    private static Connection silentConnection(CountDownLatch isSilent) {
        var isCutOff = new CountDownLatch(1);
        return (Connection)
                Proxy.newProxyInstance(
                        Connection.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, arguments) -> {
                            switch (method.getName()) {
                                case "abort" -> isCutOff.countDown();
                                case "commit" -> {
                                    isSilent.countDown();
                                    isCutOff.await();
                                    throw lost();
                                }
                                default -> {
                                    // The other methods behave as on a working connection.
                                }
                            }
                            return method.getReturnType() == boolean.class ? false : null;
                        });
    }

    /**
     * Two exceptions have the same text. Only the thrown exception may have occurred during a
     * commit.
     */
    @Test
    void aLossThatWasHandledIsNotTakenForALaterOne() {
        var runs = new AtomicInteger();
        assertThrows(
                OutcomeUnknownException.class,
                () ->
                        Retry.call(
                                policy,
                                () -> {
                                    runs.incrementAndGet();
                                    SQLException byHand = lost();
                                    assertThrows(
                                            SQLException.class,
                                            () ->
                                                    transactions.run(
                                                            connection -> {
                                                                throw lost();
                                                            }));
                                    throw byHand;
                                }));
        assertEquals(1, runs.get());
    }

    @Test
    void workWithItsOwnTransactionsTellsWhenItWasLost() throws Exception {
        connections.failNext("open", lost());
        assertEquals("done", Retry.call(policy, () -> transactions.run(connection -> "done")));
        assertEquals(1, metrics.statistics().faults().get(Fault.CONNECTION_LOST));
        connections.failNext("commit", lost());
        assertThrows(
                OutcomeUnknownException.class,
                () -> Retry.call(policy, () -> transactions.run(connection -> "done")));
    }

    @Test
    void aPartTakesEffectWithTheWhole() throws Exception {
        transactions.run(
                outer ->
                        Retry.call(
                                policy,
                                transactions,
                                inner -> {
                                    assertSame(outer, inner);
                                    return "done";
                                }));
        assertEquals(committed("c1"), connections.calls);
        assertEquals(0, metrics.statistics().calls());
    }

    @Test
    void aPartIsNotRetriedOnItsOwn() {
        int[] runs = new int[1];
        assertThrows(
                SQLException.class,
                () ->
                        transactions.run(
                                outer ->
                                        Retry.call(
                                                policy,
                                                transactions,
                                                inner -> {
                                                    runs[0]++;
                                                    throw deadlock();
                                                })));
        assertEquals(1, runs[0]);
    }

    @Test
    void aFaultOfAPartThatIsCaughtIsNotCommitted() throws Exception {
        int[] runs = new int[1];
        int result =
                Retry.call(
                        policy,
                        transactions,
                        outer -> {
                            try {
                                transactions.run(
                                        inner -> {
                                            if (runs[0]++ == 0) {
                                                throw deadlock();
                                            }
                                            return 0;
                                        });
                            } catch (SQLException e) {
                                assertEquals("40P01", e.getSQLState()); // Continues as if nothing had happened.
                            }
                            return runs[0];
                        });
        assertEquals(2, result);
        assertEquals(1, metrics.statistics().faults().get(Fault.DEADLOCK));
        assertFalse(connections.calls.contains("c1.commit"));
    }
}
