// SPDX-License-Identifier: Apache-2.0
// Tests which calls of any kind are retried.
package benchlab.appserver.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {

    private final FakeTimer timer = new FakeTimer();
    private final List<String> events = new ArrayList<>();
    private final RetryPolicy policy =
            RetryPolicy.of(RetryPolicyTest::classify)
                    .attempts(4)
                    .backoff(new Backoff(Duration.ofMillis(8), Duration.ofMillis(20)))
                    .timer(timer);

    /**
     * Classifies "busy" as transient, "lost" as an unknown outcome, and everything else as
     * permanent.
     */
    private static Verdict classify(Exception failure) {
        return switch (String.valueOf(failure.getMessage())) {
            case "busy" -> Verdict.TRANSIENT;
            case "in a second" -> Verdict.TRANSIENT.after(Duration.ofSeconds(1));
            case "lost" -> Verdict.OUTCOME_UNKNOWN;
            default -> Verdict.PERMANENT;
        };
    }

    /** Fails once with each of the given messages, and then returns the number of runs. */
    private static final class Failing implements Work<Integer, IOException> {
        private final Deque<String> failures;
        private int runs;

        Failing(String... failures) {
            this.failures = new ArrayDeque<>(Arrays.asList(failures));
        }

        @Override
        public Integer run() throws IOException {
            runs++;
            if (!failures.isEmpty()) {
                throw new IOException(failures.remove());
            }
            return runs;
        }
    }

    private static String fails(Guard guard, Failing work, int runs) {
        String message = assertThrows(IOException.class, () -> guard.call(work)).getMessage();
        assertEquals(runs, work.runs);
        return message;
    }

    @Test
    void whatIsTransientIsRetried() throws Exception {
        assertEquals(1, policy.call(new Failing()));
        assertEquals(3, policy.call(new Failing("busy", "busy")));
        assertEquals("busy", fails(policy, new Failing("busy", "busy", "busy", "busy", "busy"), 4));
        assertEquals("other", fails(policy, new Failing("busy", "other"), 2));
    }

    @Test
    void whatMayHaveTakenEffectIsOnlyRepeatedIfItIsIdempotent() throws Exception {
        assertEquals("lost", fails(policy, new Failing("lost"), 1));
        assertEquals("lost", fails(policy, new Failing("busy", "lost"), 2));
        assertEquals(2, policy.idempotent(true).call(new Failing("lost")));
    }

    @Test
    void delaysDoubleAndRespectTheServer() throws Exception {
        policy.call(new Failing("busy", "busy", "in a second"));
        assertEquals(List.of(4L, 8L, 1_000L), timer.pauses.stream().map(nanos -> nanos / 1_000_000).toList());
    }

    @Test
    void noRetryBeginsAfterTheDeadline() {
        assertEquals("in a second", fails(policy.deadline(Duration.ofMillis(999)), new Failing("in a second"), 1));
        assertEquals(List.of(), timer.pauses);
    }

    @Test
    void policiesShareABudget() throws Exception {
        var budget = new Budget(0.5, 2);
        RetryPolicy one = policy.budget(budget);
        RetryPolicy other = policy.attempts(9).budget(budget);
        one.call(new Failing("busy"));
        assertEquals(1, budget.available());
        fails(other, new Failing("busy", "busy", "busy"), 2);
        assertEquals(0, budget.available());
        for (int k = 0; k < 4; k++) {
            one.call(new Failing());
        }
        assertEquals(2, budget.available());
    }

    @Test
    void listenersSeeEachAttempt() throws Exception {
        var listener =
                new RetryListener() {
                    @Override
                    public void onRetry(FailedAttempt attempt, Duration delay) {
                        events.add(attempt.number() + " " + attempt.kind() + " " + delay.toMillis());
                    }

                    @Override
                    public void onFailure(FailedAttempt last) {
                        events.add("failed " + last.number() + " " + last.kind() + " " + last.elapsed().toMillis());
                        throw new IllegalStateException("a listener that fails");
                    }

                    @Override
                    public void onSuccess(int attempts) {
                        events.add("succeeded " + attempts);
                    }
                };
        RetryPolicy observed = policy.listener(listener);
        observed.call(new Failing("busy"));
        fails(observed, new Failing("busy", "lost"), 2);
        assertEquals(List.of("1 TRANSIENT 4", "succeeded 2", "1 TRANSIENT 4", "failed 2 OUTCOME_UNKNOWN 4"), events);
    }

    @Test
    void resultsCanBeFailures() {
        int[] runs = {0};
        RetryPolicy checked =
                policy.results(result -> result instanceof Integer n && n < 3 ? Verdict.TRANSIENT : null);
        assertEquals(3, checked.call(() -> ++runs[0]));
        runs[0] = 0;
        assertEquals(2, checked.attempts(2).call(() -> ++runs[0]));
    }

    @Test
    void earlierFailuresAreSuppressed() {
        var failures = new Exception[] {new IOException("busy"), new IOException("busy"), new IOException("other")};
        int[] runs = {0};
        var thrown =
                assertThrows(
                        Exception.class,
                        () ->
                                policy.call(
                                        () -> {
                                            throw failures[runs[0]++];
                                        }));
        assertSame(failures[2], thrown);
        assertArrayEquals(new Throwable[] {failures[1]}, thrown.getSuppressed());
        assertArrayEquals(new Throwable[] {failures[0]}, failures[1].getSuppressed());
    }

    @Test
    void anInterruptEndsTheRetries() {
        Thread.currentThread().interrupt();
        fails(policy, new Failing("busy"), 1);
        assertTrue(Thread.interrupted());
    }

    @Test
    void anInterruptOfTheWorkEndsTheRetries() {
        var always = RetryPolicy.of(failure -> Verdict.TRANSIENT).attempts(2).timer(timer);
        var interrupt = new InterruptedException();
        for (Exception failure : List.of(interrupt, new IllegalStateException(interrupt))) {
            assertEquals(1, runsOf(always, failure));
        }
        // The interrupted thread is another one.
        assertEquals(2, runsOf(always, new ExecutionException(interrupt)));
    }

    /** Returns the number of runs of a call that always fails. */
    private static int runsOf(Guard guard, Exception failure) {
        int[] runs = {0};
        Work<Integer, Exception> failing =
                () -> {
                    runs[0]++;
                    throw failure;
                };
        assertSame(failure, assertThrows(Exception.class, () -> guard.call(failing)));
        return runs[0];
    }

    @Test
    void otherGuardsHaveTheirOwnVerdicts() {
        var full = new BulkheadFullException("full");
        int[] runs = {0};
        assertEquals(
                2,
                policy.call(
                        () -> {
                            if (++runs[0] == 1) {
                                throw full;
                            }
                            return runs[0];
                        }));
        Work<Integer, RuntimeException> open =
                () -> {
                    runs[0]++;
                    throw new CircuitOpenException(Duration.ofSeconds(1));
                };
        runs[0] = 0;
        assertThrows(CircuitOpenException.class, () -> policy.call(open));
        assertEquals(1, runs[0]);
        Work<Integer, RuntimeException> late =
                () -> {
                    runs[0]++;
                    throw new TimeLimitExceededException("late", true);
                };
        runs[0] = 0;
        assertThrows(TimeLimitExceededException.class, () -> policy.call(late));
        assertEquals(1, runs[0]);
    }

    @Test
    void typesCanBeTransient() throws Exception {
        Classifier files = Classifier.ofTransient(FileNotFoundException.class);
        assertEquals(Verdict.TRANSIENT, files.classify(new FileNotFoundException()));
        assertEquals(Verdict.PERMANENT, files.classify(new IOException()));
    }

    @Test
    void aDelayNeverOverflows() {
        var backoff = new Backoff(Duration.ofDays(1), Duration.ofDays(2));
        assertEquals(Duration.ofDays(1).toNanos(), backoff.delay(Integer.MAX_VALUE, 0.5));
        assertEquals(0, Backoff.NONE.delay(1, 0.99));
    }

    @Test
    void whatCannotBeAPolicyIsRejected() {
        assertThrows(IllegalArgumentException.class, () -> policy.attempts(0));
        assertThrows(IllegalArgumentException.class, () -> policy.deadline(Duration.ofSeconds(-1)));
        assertThrows(IllegalArgumentException.class, () -> Verdict.TRANSIENT.after(Duration.ofSeconds(-1)));
    }
}
