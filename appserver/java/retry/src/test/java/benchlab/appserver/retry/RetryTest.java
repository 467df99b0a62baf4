// SPDX-License-Identifier: Apache-2.0
// Tests which calls are retried.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.resilience.Backoff;
import benchlab.appserver.resilience.Budget;
import benchlab.appserver.resilience.CircuitBreaker;
import benchlab.appserver.resilience.CircuitOpenException;
import benchlab.appserver.resilience.FakeTimer;
import benchlab.appserver.resilience.RetryListener;
import benchlab.appserver.resilience.Timer;
import benchlab.appserver.resilience.Work;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RetryTest {

    private final FakeTimer timer = new FakeTimer();
    private final RetryMetrics metrics = new RetryMetrics();
    private final Policy policy = Policy.ofAttempts(4).metrics(metrics);

    /** Fails once with each of the given exceptions, and then returns the number of runs. */
    private static final class Failing implements Work<Integer, Exception> {
        private final Deque<Exception> failures;
        private int runs;

        Failing(Exception... failures) {
            this.failures = new ArrayDeque<>(Arrays.asList(failures));
        }

        @Override
        public Integer run() throws Exception {
            runs++;
            if (!failures.isEmpty()) {
                throw failures.remove();
            }
            return runs;
        }
    }

    private static Exception deadlock() {
        return new SQLException("deadlock", "40P01");
    }

    private static Exception lost() {
        return new SQLException("lost", "08006");
    }

    private int call(Policy with, Failing work) throws Exception {
        return Retry.call(with, work, timer);
    }

    @Test
    void whatSucceedsIsRunOnce() throws Exception {
        assertEquals(1, call(policy, new Failing()));
        assertEquals(1, metrics.statistics().calls());
        assertEquals(0, metrics.statistics().retries());
        assertEquals(List.of(), timer.pauses);
    }

    @Test
    void aFaultThatPassesIsRetried() throws Exception {
        assertEquals(3, call(policy, new Failing(deadlock(), new StaleVersionException())));
        RetryStatistics statistics = metrics.statistics();
        assertEquals(1, statistics.calls());
        assertEquals(2, statistics.retries());
        assertEquals(0, statistics.givenUp());
        assertEquals(1, statistics.faults().get(Fault.DEADLOCK));
        assertEquals(1, statistics.faults().get(Fault.STALE_VERSION));
        assertEquals(0, statistics.faults().get(Fault.BUSY));
        assertEquals(timer.pauses.stream().mapToLong(n -> n).sum(), statistics.timeInFailedAttempts().toNanos());
    }

    @Test
    void attemptsAreOneMoreThanRetries() {
        Exception[] failures = {deadlock(), deadlock(), deadlock(), deadlock(), deadlock()};
        var work = new Failing(failures);
        Exception thrown = assertThrows(SQLException.class, () -> call(policy, work));
        assertEquals(4, work.runs);
        assertSame(failures[3], thrown);
        assertArrayEquals(new Throwable[] {failures[2]}, thrown.getSuppressed());
        assertArrayEquals(new Throwable[] {failures[1]}, failures[2].getSuppressed());
        assertEquals(3, metrics.statistics().retries());
        assertEquals(1, metrics.statistics().givenUp());
        assertEquals(4, metrics.statistics().faults().get(Fault.DEADLOCK));
    }

    @Test
    void oneExceptionThrownTwiceIsNotSuppressedInItself() {
        Exception same = deadlock();
        var work = new Failing(same, same, same, same);
        assertSame(same, assertThrows(SQLException.class, () -> call(policy, work)));
        assertEquals(0, same.getSuppressed().length);
    }

    @Test
    void aSingleAttemptIsNoRetry() {
        var work = new Failing(deadlock());
        assertThrows(SQLException.class, () -> call(Policy.ofAttempts(1), work));
        assertEquals(1, work.runs);
    }

    @Test
    void whatIsPermanentIsThrownAsItIs() {
        var failure = new IOException("disk");
        var work = new Failing(failure);
        assertSame(failure, assertThrows(IOException.class, () -> call(policy, work)));
        assertEquals(1, work.runs);
        assertEquals(1, metrics.statistics().faults().get(Fault.PERMANENT));
        assertEquals(0, metrics.statistics().givenUp());
    }

    @Test
    void pausesDoubleUpToTheMaximum() throws Exception {
        Policy doubling = Policy.ofAttempts(9).backoff(Fault.DEADLOCK, new Backoff(Duration.ofMillis(8), Duration.ofMillis(40)));
        call(doubling, new Failing(deadlock(), deadlock(), deadlock(), deadlock(), deadlock()));
        assertEquals(List.of(4L, 8L, 16L, 20L, 20L), millis());
    }

    @Test
    void eachClassHasItsOwnPauses() throws Exception {
        Policy mixed =
                policy.backoff(Fault.DEADLOCK, new Backoff(Duration.ofMillis(10), Duration.ofMillis(1_000)))
                        .backoff(Fault.STALE_VERSION, Backoff.NONE);
        call(mixed, new Failing(deadlock(), new StaleVersionException(), deadlock()));
        assertEquals(List.of(5L, 0L, 20L), millis());
    }

    @Test
    void aClassThatIsLeftOutIsNotRetried() {
        var work = new Failing(deadlock());
        assertThrows(SQLException.class, () -> call(policy.without(Fault.DEADLOCK), work));
        assertEquals(1, work.runs);
        assertEquals(1, metrics.statistics().givenUp());
    }

    @Test
    void noRetryBeginsAfterTheDeadline() {
        Policy timed =
                policy.deadline(Duration.ofMillis(25))
                        .backoff(Fault.DEADLOCK, new Backoff(Duration.ofMillis(20), Duration.ofMillis(20)));
        var work = new Failing(deadlock(), deadlock(), deadlock());
        assertThrows(SQLException.class, () -> call(timed, work));
        assertEquals(List.of(10L, 10L), millis());
        assertEquals(3, work.runs);
        assertEquals(Duration.ofMillis(20), metrics.statistics().timeInFailedAttempts());
    }

    @Test
    void theTimeOfAttemptsCounts() {
        Policy timed = policy.deadline(Duration.ofSeconds(1));
        Work<Integer, SQLException> slow =
                () -> {
                    timer.now += Duration.ofSeconds(1).toNanos();
                    throw new SQLException("deadlock", "40P01");
                };
        assertThrows(SQLException.class, () -> Retry.call(timed, slow, timer));
        assertEquals(List.of(), timer.pauses);
        assertEquals(Duration.ofSeconds(1), metrics.statistics().timeInFailedAttempts());
    }

    @Test
    void aBudgetEndsRetriesAndCallsEarnThem() throws Exception {
        Policy limited = policy.budget(new Budget(0.25, 2));
        assertEquals(3, call(limited, new Failing(deadlock(), deadlock())));
        assertThrows(SQLException.class, () -> call(limited, new Failing(deadlock())));
        assertEquals(1, metrics.statistics().givenUp());
        for (int k = 0; k < 2; k++) {
            call(limited, new Failing());
        }
        assertEquals(0, limited.budget().available());
        assertEquals(2, call(limited, new Failing(deadlock())));
        for (int k = 0; k < 100; k++) {
            call(limited, new Failing());
        }
        assertEquals(2, limited.budget().available());
    }

    @Test
    void anInterruptEndsThePauseAndTheFlagIsKept() {
        var work = new Failing(deadlock(), deadlock());
        Timer interrupted =
                new FakeTimer() {
                    @Override
                    public void sleep(long nanos) throws InterruptedException {
                        Thread.currentThread().interrupt();
                        super.sleep(nanos);
                    }
                };
        assertThrows(SQLException.class, () -> Retry.call(policy, work, interrupted));
        assertTrue(Thread.interrupted());
        assertEquals(1, work.runs);
    }

    @Test
    void whoIsInterruptedDoesNotRetry() {
        var work = new Failing(deadlock());
        Thread.currentThread().interrupt();
        Policy withoutPauses = policy.backoff(Fault.DEADLOCK, Backoff.NONE);
        assertThrows(SQLException.class, () -> call(withoutPauses, work));
        assertTrue(Thread.interrupted());
        assertEquals(1, work.runs);
        assertEquals(1, metrics.statistics().givenUp());
    }

    @Test
    void aCircuitBreakerOpensAfterOutagesOnly() throws Exception {
        var breaker =
                new CircuitBreaker(
                        CircuitBreaker.Options.DEFAULT
                                .window(3)
                                .recording(Faults::isOutage)
                                .timer(timer));
        Policy guarded = policy.breaker(breaker);
        call(guarded, new Failing(deadlock(), deadlock(), deadlock()));
        assertEquals(CircuitBreaker.State.CLOSED, breaker.state());
        for (int k = 0; k < 2; k++) {
            assertThrows(OutcomeUnknownException.class, () -> call(guarded, new Failing(lost())));
        }
        var rejected = new Failing();
        assertThrows(CircuitOpenException.class, () -> call(guarded, rejected));
        assertEquals(0, rejected.runs);
        timer.now += Duration.ofSeconds(5).toNanos();
        assertEquals(1, call(guarded, new Failing()));
        assertEquals(CircuitBreaker.State.CLOSED, breaker.state());
    }

    @Test
    void aListenerSeesFaults() throws Exception {
        List<String> events = new ArrayList<>();
        var listener =
                new RetryListener() {
                    @Override
                    public void onRetry(FailedAttempt attempt, Duration delay) {
                        events.add(attempt.kind() + " " + delay.toNanos() / 1_000);
                    }

                    @Override
                    public void onFailure(FailedAttempt last) {
                        events.add("failed " + last.number() + " " + last.kind());
                    }

                    @Override
                    public void onSuccess(int attempts) {
                        events.add("succeeded " + attempts);
                    }
                };
        call(policy.listener(listener), new Failing(deadlock()));
        assertThrows(OutcomeUnknownException.class, () -> call(policy.listener(listener), new Failing(lost())));
        assertEquals(List.of("DEADLOCK 2500", "succeeded 2", "failed 1 OUTCOME_UNKNOWN"), events);
    }

    @Test
    void onlyTheOutermostCallRetries() {
        var work = new Failing(Collections.nCopies(100, deadlock()).toArray(Exception[]::new));
        Work<Integer, Exception> middle = () -> call(policy, work);
        assertThrows(
                SQLException.class,
                () -> Retry.call(policy, () -> Retry.call(policy, middle, timer), timer));
        assertEquals(4, work.runs);
        assertEquals(1, metrics.statistics().calls());
    }

    @Test
    void aCallAfterAFailedOneIsOutermostAgain() throws Exception {
        assertThrows(IOException.class, () -> call(policy, new Failing(new IOException())));
        assertEquals(2, call(policy, new Failing(deadlock())));
    }

    @Test
    void whoMayHaveCommittedIsNotRetried() throws Exception {
        Exception failure = lost();
        var work = new Failing(failure);
        var unknown = assertThrows(OutcomeUnknownException.class, () -> call(policy, work));
        assertSame(failure, unknown.getCause());
        assertEquals(1, work.runs);
        assertEquals(1, metrics.statistics().faults().get(Fault.OUTCOME_UNKNOWN));
        assertEquals(2, call(policy.repeatable(true), new Failing(lost())));
    }

    /** An unknown outcome that the database itself reports is not retried either. */
    @Test
    void whatTheDatabaseDoesNotKnowIsUnknown() {
        var failure = new IOException(new SQLException("unknown", "08007"));
        var unknown =
                assertThrows(
                        OutcomeUnknownException.class, () -> call(policy, new Failing(failure)));
        assertSame(failure, unknown.getCause());
    }

    @Test
    void aCircleOfCausesIsUnknown() {
        var failure = new SQLException("lost", "08006");
        failure.initCause(new IOException(failure));
        assertThrows(OutcomeUnknownException.class, () -> call(policy, new Failing(failure)));
    }

    @Test
    void whatIsSaidToBeUnknownIsThrownAsItIs() {
        var failure = new IOException(new OutcomeUnknownException(lost()));
        assertSame(
                failure,
                assertThrows(IOException.class, () -> call(policy, new Failing(failure))));
    }

    /** If the work may take effect twice, only the outcome of the last attempt matters. */
    @Test
    void theLastAttemptOfWhatIsRepeatableCounts() {
        Policy twice = Policy.ofAttempts(2).repeatable(true);
        assertThrows(
                OutcomeUnknownException.class, () -> call(twice, new Failing(lost(), lost())));
        assertThrows(SQLException.class, () -> call(twice, new Failing(lost(), deadlock())));
    }

    @Test
    void whoCouldNotConnectIsRetried() throws Exception {
        var refused = new SQLException("refused", "08001");
        assertEquals(2, call(policy, new Failing(new RuntimeException(refused))));
        assertEquals(1, metrics.statistics().faults().get(Fault.CONNECTION_LOST));
    }

    @Test
    void whatCannotBeAPolicyIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Policy.ofAttempts(0));
        assertThrows(
                IllegalArgumentException.class, () -> policy.deadline(Duration.ofSeconds(-1)));
        assertThrows(
                IllegalArgumentException.class,
                () -> policy.backoff(Fault.PERMANENT, Backoff.NONE));
        assertThrows(IllegalArgumentException.class, () -> new Backoff(Duration.ofMillis(2), Duration.ofMillis(1)));
        assertThrows(IllegalArgumentException.class, () -> new Backoff(Duration.ofMillis(-1), Duration.ofMillis(1)));
    }

    @Test
    void prometheusReadsTheStatistics() throws Exception {
        timer.random = 0;
        call(policy, new Failing(deadlock()));
        String text = RetryStatistics.prometheus(Map.of("a \"b\"\\\n", metrics.statistics()));
        String label = "{policy=\"a \\\"b\\\"\\\\\\n\"";
        List<String> lines = text.lines().toList();
        assertEquals(5 * 2 + 4 + Fault.values().length, lines.size());
        assertEquals("# HELP appserver_retry_calls_total Calls.", lines.get(0));
        assertEquals("# TYPE appserver_retry_calls_total counter", lines.get(1));
        assertEquals("appserver_retry_calls_total" + label + "} 1", lines.get(2));
        assertTrue(
                lines.contains("appserver_retry_faults_total" + label + ",fault=\"deadlock\"} 1"));
        assertTrue(
                lines.contains("appserver_retry_faults_total" + label + ",fault=\"permanent\"} 0"));
        assertEquals("appserver_retry_lost_seconds_total" + label + "} 0.000000000", lines.get(21));
        assertTrue(text.endsWith("\n"));
    }

    private List<Long> millis() {
        return timer.pauses.stream().map(nanos -> nanos / 1_000_000).toList();
    }
}
