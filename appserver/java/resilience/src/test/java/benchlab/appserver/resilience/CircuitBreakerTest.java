// SPDX-License-Identifier: Apache-2.0
// Tests the states of a circuit breaker.
package benchlab.appserver.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import benchlab.appserver.Stress;
import benchlab.appserver.resilience.CircuitBreaker.Options;
import benchlab.appserver.resilience.CircuitBreaker.State;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CircuitBreakerTest {

    private final FakeTimer timer = new FakeTimer();
    private final List<String> transitions = new ArrayList<>();
    private final Options options =
            Options.DEFAULT
                    .window(10)
                    .minimumCalls(4)
                    .trials(2)
                    .openTime(Duration.ofSeconds(5))
                    .listener((from, to) -> transitions.add(from + " " + to))
                    .timer(timer);
    private CircuitBreaker breaker = new CircuitBreaker(options);

    private void succeed(int calls) {
        for (int k = 0; k < calls; k++) {
            breaker.call(() -> null);
        }
    }

    private void fail(int calls) {
        for (int k = 0; k < calls; k++) {
            assertThrows(IOException.class, () -> breaker.call(CircuitBreakerTest::down));
        }
    }

    private static Void down() throws IOException {
        throw new IOException("down");
    }

    private CircuitOpenException rejects() {
        return assertThrows(CircuitOpenException.class, () -> succeed(1));
    }

    private void pass(Duration time) {
        timer.now += time.toNanos();
    }

    @Test
    void opensAtTheFailureRateOfEnoughCalls() {
        fail(3); // Too few to decide.
        assertEquals(State.CLOSED, breaker.state());
        breaker.reset();
        succeed(5);
        fail(4); // 4 of 9.
        assertEquals(State.CLOSED, breaker.state());
        fail(1); // 5 of 10.
        assertEquals(State.OPEN, breaker.state());
        assertEquals(List.of("CLOSED OPEN"), transitions);
        assertEquals(1, breaker.statistics().opened());
    }

    /** A rate in percent is exact, although most are no binary fractions. */
    @Test
    void opensAtEveryPercentage() {
        for (int percent = 1; percent <= 100; percent++) {
            breaker = new CircuitBreaker(options.window(100).failureRate(percent / 100.0));
            succeed(100 - percent);
            fail(percent - 1);
            assertEquals(State.CLOSED, breaker.state(), percent + " %");
            fail(1);
            assertEquals(State.OPEN, breaker.state(), percent + " %");
        }
    }

    @Test
    void theWindowForgets() {
        succeed(4);
        fail(3);
        succeed(10);
        assertEquals(0, breaker.statistics().failures());
        fail(4);
        succeed(6);
        assertEquals(new CircuitBreaker.Statistics(State.CLOSED, 10, 4, 0, 0), breaker.statistics());
    }

    @Test
    void rejectsUntilTheOpenTimeHasPassed() {
        fail(4);
        assertEquals(Duration.ofSeconds(5), rejects().retryAfter());
        pass(Duration.ofSeconds(5).minusNanos(1));
        assertEquals(Duration.ofNanos(1), rejects().retryAfter());
        assertEquals(2, breaker.statistics().rejected());
        pass(Duration.ofNanos(1));
        succeed(1);
        assertEquals(State.HALF_OPEN, breaker.state());
    }

    @Test
    void closesAfterTrialsThatSucceed() {
        fail(4);
        pass(Duration.ofSeconds(5));
        succeed(2);
        assertEquals(List.of("CLOSED OPEN", "OPEN HALF_OPEN", "HALF_OPEN CLOSED"), transitions);
        fail(3); // The window is empty again.
        assertEquals(State.CLOSED, breaker.state());
    }

    @Test
    void aTrialThatFailsOpensItAgain() {
        fail(4);
        pass(Duration.ofSeconds(5));
        succeed(1);
        fail(1);
        assertEquals(Duration.ofSeconds(5), rejects().retryAfter());
        assertEquals(2, breaker.statistics().opened());
    }

    @Test
    void admitsNoMoreThanItsTrials() {
        fail(4);
        pass(Duration.ofSeconds(5));
        breaker.call(
                () ->
                        breaker.call(
                                () -> {
                                    assertEquals(Duration.ZERO, rejects().retryAfter());
                                    return null;
                                }));
        assertEquals(State.CLOSED, breaker.state());
    }

    @Test
    void trialsThatHangAreReplaced() {
        fail(4);
        pass(Duration.ofSeconds(5));
        breaker.call(
                () ->
                        breaker.call(
                                () -> {
                                    pass(Duration.ofSeconds(5));
                                    succeed(2);
                                    assertEquals(State.CLOSED, breaker.state());
                                    fail(3);
                                    return null;
                                }));
        assertEquals(3, breaker.statistics().results(), "the results of the hanging trials are ignored");
    }

    @Test
    void lateResultsAreIgnored() {
        assertThrows(
                IOException.class,
                () ->
                        breaker.call(
                                () -> {
                                    fail(4);
                                    pass(Duration.ofSeconds(5));
                                    succeed(1);
                                    return down();
                                }));
        assertEquals(State.HALF_OPEN, breaker.state());
        succeed(1);
        assertEquals(State.CLOSED, breaker.state());
    }

    @Test
    void otherExceptionsAreNoResults() {
        breaker = new CircuitBreaker(options.recording(IOException.class::isInstance));
        for (int k = 0; k < 9; k++) {
            assertThrows(IllegalStateException.class, () -> breaker.call(CircuitBreakerTest::refuse));
        }
        assertEquals(0, breaker.statistics().results());
        fail(4);
        pass(Duration.ofSeconds(5));
        for (int k = 0; k < 9; k++) { // None of them uses up a trial.
            assertThrows(IllegalStateException.class, () -> breaker.call(CircuitBreakerTest::refuse));
            assertThrows(StackOverflowError.class, () -> breaker.call(CircuitBreakerTest::overflow));
        }
        succeed(2);
        assertEquals(State.CLOSED, breaker.state());
    }

    private static Void refuse() {
        throw new IllegalStateException("refused");
    }

    private static Void overflow() {
        throw new StackOverflowError();
    }

    @Test
    void aPredicateThatFailsUsesUpNoTrial() {
        boolean[] fails = {false};
        breaker =
                new CircuitBreaker(
                        options.recording(
                                failure -> {
                                    if (fails[0]) {
                                        throw new IllegalStateException("a predicate that fails");
                                    }
                                    return true;
                                }));
        fail(4);
        pass(Duration.ofSeconds(5));
        fails[0] = true;
        for (int k = 0; k < 9; k++) {
            assertThrows(IllegalStateException.class, () -> breaker.call(CircuitBreakerTest::down));
        }
        succeed(2);
        assertEquals(State.CLOSED, breaker.state());
    }

    @Test
    void rejectionsByInnerGuardsAreNoFailures() {
        for (int k = 0; k < 9; k++) {
            assertThrows(
                    BulkheadFullException.class,
                    () ->
                            breaker.call(
                                    () -> {
                                        throw new BulkheadFullException("full");
                                    }));
        }
        assertEquals(0, breaker.statistics().results());
        for (int k = 0; k < 4; k++) {
            assertThrows(
                    TimeLimitExceededException.class,
                    () ->
                            breaker.call(
                                    () -> {
                                        throw new TimeLimitExceededException("late", true);
                                    }));
        }
        assertEquals(State.OPEN, breaker.state());
    }

    @Test
    void aListenerThatFailsAffectsNoCall() {
        breaker =
                new CircuitBreaker(
                        options.listener(
                                (from, to) -> {
                                    throw new IllegalStateException("a listener that fails");
                                }));
        fail(4);
        assertEquals(State.OPEN, breaker.state());
    }

    @Test
    void canBeReset() {
        fail(4);
        breaker.reset();
        succeed(1);
        assertEquals(new CircuitBreaker.Statistics(State.CLOSED, 1, 0, 0, 1), breaker.statistics());
    }

    @Test
    void whatCannotBeSetIsRejected() {
        assertThrows(IllegalArgumentException.class, () -> options.window(0));
        assertThrows(IllegalArgumentException.class, () -> options.minimumCalls(11));
        assertThrows(IllegalArgumentException.class, () -> options.failureRate(0));
        assertThrows(IllegalArgumentException.class, () -> options.failureRate(Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> options.openTime(Duration.ofNanos(-1)));
        assertThrows(IllegalArgumentException.class, () -> options.trials(0));
    }

    /** Every call is either made or rejected, and a half-open circuit breaker runs few trials. */
    @Test
    void threadsShareIt() throws Exception {
        var clock = new AtomicLong();
        Timer shared =
                new FakeTimer() {
                    @Override
                    public long nanoTime() {
                        return clock.get();
                    }
                };
        var stressed = new CircuitBreaker(options.trials(3).listener(null).timer(shared));
        var running = new AtomicInteger();
        var excess = new AtomicInteger();
        var deadline = new Stress.Deadline(Stress.part(2));
        Callable<long[]> task =
                () -> {
                    long[] counts = new long[2];
                    for (int k = 0; k < 1_000 || !deadline.passed(); k++) {
                        boolean fails = k / 100 % 2 == 1;
                        if (k % 64 == 0) {
                            clock.addAndGet(Duration.ofSeconds(1).toNanos());
                        }
                        try {
                            stressed.call(
                                    () -> {
                                        counts[0]++;
                                        running.incrementAndGet();
                                        try {
                                            return fails ? down() : null;
                                        } finally {
                                            running.decrementAndGet();
                                        }
                                    });
                        } catch (CircuitOpenException e) {
                            counts[1]++;
                        } catch (IOException e) {
                            excess.addAndGet(fails ? 0 : 1);
                        }
                    }
                    return counts;
                };
        long made = 0;
        long rejected = 0;
        for (long[] counts : Stress.together(List.of(task, task, task, task))) {
            made += counts[0];
            rejected += counts[1];
        }
        CircuitBreaker.Statistics end = stressed.statistics();
        assertEquals(rejected, end.rejected());
        assertEquals(0, running.get());
        assertEquals(0, excess.get());
        assertEquals(true, made > 0 && end.opened() > 0, end.toString());
        clock.addAndGet(Duration.ofSeconds(5).toNanos());
        for (int k = 0; k < 20; k++) { // It closes: no trial was lost.
            stressed.call(() -> null);
        }
        assertEquals(State.CLOSED, stressed.state());
    }

    /** While trials run, all other calls of all threads are rejected. */
    @Test
    void threadsGetNoMoreThanTheTrials() throws Exception {
        var deadline = new Stress.Deadline(Stress.part(2));
        do {
            var clock = new FakeTimer();
            var shared = new CircuitBreaker(options.window(1).trials(2).listener(null).timer(clock));
            assertThrows(IOException.class, () -> shared.call(CircuitBreakerTest::down));
            clock.now += Duration.ofSeconds(5).toNanos();
            var made = new AtomicInteger();
            var asked = new AtomicInteger();
            Callable<Void> task =
                    () -> {
                        try {
                            shared.call(
                                    () -> {
                                        made.incrementAndGet();
                                        while (asked.get() < 4) { // The trials end after all have asked.
                                            Thread.onSpinWait();
                                        }
                                        return null;
                                    });
                        } catch (CircuitOpenException e) {
                            asked.addAndGet(2);
                        }
                        return null;
                    };
            Stress.together(List.of(task, task, task, task));
            assertEquals(2, made.get());
        } while (!deadline.passed());
    }
}
