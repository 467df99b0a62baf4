// SPDX-License-Identifier: Apache-2.0
// Tests bulkheads, time limiters, hedging, fallbacks, and their combination. No test depends on how long something takes.
package benchlab.appserver.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.Stress;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GuardsTest {

    private static final Duration FOREVER = Duration.ofDays(1);
    private static final Duration SHORT = Duration.ofMillis(1);

    private final CountDownLatch never = new CountDownLatch(1);

    private Void hang() throws InterruptedException {
        never.await();
        return null;
    }

    // Bulkheads.

    @Test
    void aFullBulkheadRejects() throws Exception {
        var bulkhead = new Bulkhead(2, Duration.ZERO);
        var full =
                bulkhead.call(
                        () ->
                                bulkhead.call(
                                        () -> {
                                            assertEquals(2, bulkhead.running());
                                            return assertThrows(
                                                    BulkheadFullException.class,
                                                    () -> bulkhead.call(() -> null));
                                        }));
        assertEquals(FailureKind.TRANSIENT, full.verdict().kind());
        assertEquals(0, bulkhead.running());
        assertThrows(
                IOException.class,
                () ->
                        bulkhead.call(
                                () -> {
                                    throw new IOException();
                                }));
        assertEquals(0, bulkhead.running());
    }

    @Test
    void aCallerWaitsForAPermit() throws Exception {
        var bulkhead = new Bulkhead(1, FOREVER);
        var order = Collections.synchronizedList(new ArrayList<Integer>());
        List<Thread> waiting = new ArrayList<>();
        bulkhead.call(
                () -> {
                    for (int k = 1; k <= 3; k++) {
                        int number = k;
                        var thread = new Thread(() -> bulkhead.call(() -> order.add(number)));
                        thread.start();
                        waiting.add(thread);
                        while (bulkhead.waiting() < k) {
                            Thread.onSpinWait();
                        }
                    }
                    return null;
                });
        for (Thread thread : waiting) {
            thread.join();
        }
        assertEquals(List.of(1, 2, 3), order);
    }

    @Test
    void anInterruptEndsTheWaitForAPermit() throws Exception {
        var bulkhead = new Bulkhead(1, FOREVER);
        bulkhead.call(
                () -> {
                    Thread.currentThread().interrupt();
                    assertThrows(BulkheadFullException.class, () -> bulkhead.call(() -> null));
                    assertTrue(Thread.interrupted());
                    return null;
                });
        assertEquals(0, bulkhead.running());
    }

    @Test
    void aBulkheadIsNeverExceeded() throws Exception {
        var bulkhead = new Bulkhead(3, FOREVER);
        var running = new AtomicInteger();
        var deadline = new Stress.Deadline(Stress.part(2));
        Callable<Integer> task =
                () -> {
                    int most = 0;
                    do {
                        most =
                                Math.max(
                                        most,
                                        bulkhead.call(
                                                () -> {
                                                    int now = running.incrementAndGet();
                                                    Thread.yield();
                                                    running.decrementAndGet();
                                                    return now;
                                                }));
                    } while (!deadline.passed());
                    return most;
                };
        for (int most : Stress.together(Collections.nCopies(8, task))) {
            assertTrue(most <= 3, "running: " + most);
        }
        assertEquals(0, bulkhead.running());
    }

    // Time limiters.

    @Test
    void aCallWithinItsLimitReturns() throws Exception {
        var limiter = new TimeLimiter(FOREVER);
        assertEquals("done", limiter.call(() -> "done"));
        var failure = new IOException();
        assertSame(
                failure,
                assertThrows(
                        IOException.class,
                        () ->
                                limiter.call(
                                        () -> {
                                            throw failure;
                                        })));
        assertThrows(
                StackOverflowError.class,
                () ->
                        limiter.call(
                                () -> {
                                    throw new StackOverflowError();
                                }));
    }

    @Test
    void aCallThatHangsIsInterruptedAndUnknown() throws Exception {
        var interrupted = new CountDownLatch(1);
        var begun = new CountDownLatch(1);
        var limiter =
                new TimeLimiter(
                        SHORT,
                        work -> {
                            new Thread(work).start();
                            awaitQuietly(begun);
                        });
        var failure =
                assertThrows(
                        TimeLimitExceededException.class,
                        () ->
                                limiter.call(
                                        () -> {
                                            begun.countDown();
                                            try {
                                                return hang();
                                            } catch (InterruptedException e) {
                                                interrupted.countDown();
                                                throw e;
                                            }
                                        }));
        assertEquals(FailureKind.OUTCOME_UNKNOWN, failure.verdict().kind());
        assertFalse(failure.isRejection());
        interrupted.await();
    }

    @Test
    void aCallThatHasNotBegunNeverDoes() {
        List<Runnable> queue = new ArrayList<>();
        var limiter = new TimeLimiter(SHORT, queue::add);
        int[] runs = {0};
        var failure = assertThrows(TimeLimitExceededException.class, () -> limiter.call(() -> runs[0]++));
        assertEquals(FailureKind.TRANSIENT, failure.verdict().kind());
        queue.get(0).run();
        assertEquals(0, runs[0]);
    }

    @Test
    void anInterruptOfTheCallerEndsTheWait() {
        Thread.currentThread().interrupt();
        assertThrows(TimeLimitExceededException.class, () -> new TimeLimiter(FOREVER).call(this::hang));
        assertTrue(Thread.interrupted());
    }

    @Test
    void aCallCanBeLimitedInItsOwnThread() throws Exception {
        var caller = Thread.currentThread();
        assertSame(caller, TimeLimiter.inCallersThread(FOREVER).call(Thread::currentThread));
        assertThrows(
                IOException.class,
                () ->
                        TimeLimiter.inCallersThread(FOREVER)
                                .call(
                                        () -> {
                                            throw new IOException();
                                        }));
        var late = assertThrows(TimeLimitExceededException.class, () -> TimeLimiter.inCallersThread(SHORT).call(this::hang));
        assertEquals(FailureKind.OUTCOME_UNKNOWN, late.verdict().kind());
        assertEquals(InterruptedException.class, late.getSuppressed()[0].getClass());
        assertThrows(
                TimeLimitExceededException.class,
                () ->
                        TimeLimiter.inCallersThread(SHORT)
                                .call(
                                        () -> {
                                            assertThrows(InterruptedException.class, this::hang);
                                            return "late";
                                        }));
        assertFalse(Thread.interrupted());
    }

    /** Checks that the end of the inner limit does not hide that of the outer limit. */
    @Test
    void nestedLimitsInterruptTheirCallsEach() {
        var haveEnded = new CountDownLatch(1);
        Work<String, RuntimeException> late =
                () -> {
                    // This thread runs tasks in the order of their times, so both limits have ended.
                    Threads.ALARMS.schedule(haveEnded::countDown, 2 * SHORT.toNanos(), TimeUnit.NANOSECONDS);
                    awaitInterruptedly(haveEnded);
                    return "late";
                };
        Work<String, RuntimeException> outer =
                () -> {
                    var inner = TimeLimiter.inCallersThread(SHORT);
                    assertThrows(TimeLimitExceededException.class, () -> inner.call(late));
                    assertTrue(Thread.currentThread().isInterrupted());
                    return "late";
                };
        assertThrows(TimeLimitExceededException.class, () -> TimeLimiter.inCallersThread(SHORT).call(outer));
        assertFalse(Thread.interrupted());
    }

    private static void awaitInterruptedly(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                // The interrupt belongs to an earlier time limit.
            }
        }
    }

    @Test
    void aCallInAnotherThreadHasTheClassLoaderOfItsCaller() throws Exception {
        Thread caller = Thread.currentThread();
        ClassLoader before = caller.getContextClassLoader();
        try (var application = new URLClassLoader(new URL[0], before)) {
            caller.setContextClassLoader(application);
            for (Guard guard : List.of(new TimeLimiter(FOREVER), Hedge.forIdempotentCalls(FOREVER, 2))) {
                assertSame(application, guard.call(() -> Thread.currentThread().getContextClassLoader()));
            }
        } finally {
            caller.setContextClassLoader(before);
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // Hedging.

    @Test
    void aSecondCallOvertakesOneThatHangs() throws Exception {
        var runs = new AtomicInteger();
        var interrupted = new CountDownLatch(1);
        String result =
                Hedge.forIdempotentCalls(SHORT, 2)
                        .call(
                                () -> {
                                    if (runs.incrementAndGet() == 1) {
                                        try {
                                            hang();
                                        } catch (InterruptedException e) {
                                            interrupted.countDown();
                                            throw e;
                                        }
                                    }
                                    return "second";
                                });
        assertEquals("second", result);
        interrupted.await();
    }

    @Test
    void aCallThatIsFastIsNotHedged() throws Exception {
        var runs = new AtomicInteger();
        assertEquals(1, Hedge.forIdempotentCalls(FOREVER, 2).call(runs::incrementAndGet));
        assertThrows(
                IOException.class,
                () ->
                        Hedge.forIdempotentCalls(FOREVER, 2)
                                .call(
                                        () -> {
                                            runs.incrementAndGet();
                                            throw new IOException();
                                        }));
        assertEquals(2, runs.get());
    }

    @Test
    void aFailureWaitsForTheOthers() throws Exception {
        var runs = new AtomicInteger();
        var failed = new CountDownLatch(1);
        Executor executor =
                work ->
                        new Thread(
                                        () -> {
                                            work.run();
                                            failed.countDown();
                                        })
                                .start();
        assertEquals(
                "first",
                Hedge.forIdempotentCalls(SHORT, 2)
                        .executor(executor)
                        .call(
                                () -> {
                                    if (runs.incrementAndGet() == 1) {
                                        failed.await();
                                        return "first";
                                    }
                                    throw new IOException("second");
                                }));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void withoutAThreadForAnotherCallTheFirstIsAwaited(boolean isOutOfMemory) throws Exception {
        var runs = new AtomicInteger();
        var rejections = new AtomicInteger();
        var rejected = new CountDownLatch(1);
        Executor executor =
                work -> {
                    if (runs.getAndIncrement() == 0) {
                        new Thread(work).start();
                        return;
                    }
                    rejections.incrementAndGet();
                    rejected.countDown();
                    if (isOutOfMemory) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    throw new RejectedExecutionException();
                };
        assertEquals(
                "first",
                Hedge.forIdempotentCalls(SHORT, 3)
                        .executor(executor)
                        .call(
                                () -> {
                                    rejected.await();
                                    return "first";
                                }));
        assertEquals(1, rejections.get());
    }

    @Test
    void ifAllFailTheLastFailureIsThrown() {
        var runs = new AtomicInteger();
        var second = new CountDownLatch(1);
        var failures = new IOException[] {new IOException("first"), new IOException("second")};
        var thrown =
                assertThrows(
                        IOException.class,
                        () ->
                                Hedge.forIdempotentCalls(SHORT, 2)
                                        .call(
                                                () -> {
                                                    int run = runs.getAndIncrement();
                                                    if (run == 0) {
                                                        second.await();
                                                    } else {
                                                        second.countDown();
                                                    }
                                                    throw failures[run];
                                                }));
        assertEquals(1, thrown.getSuppressed().length);
        assertEquals(2, runs.get());
    }

    @Test
    void hedgesSpendTheBudget() throws Exception {
        var budget = new Budget(0, 1);
        var hedge = Hedge.forIdempotentCalls(SHORT, 3).budget(budget);
        var runs = new AtomicInteger();
        var second = new CountDownLatch(1);
        assertEquals(
                2,
                hedge.call(
                        () -> {
                            int run = runs.incrementAndGet();
                            if (run == 1) {
                                hang();
                            }
                            second.countDown();
                            return run;
                        }));
        assertEquals(0, budget.available());
        var release = new CountDownLatch(1);
        var releaser = new Thread(release::countDown);
        assertEquals(
                3,
                hedge.call(
                        () -> {
                            releaser.start();
                            release.await();
                            return runs.incrementAndGet();
                        }));
        assertEquals(3, runs.get());
    }

    @Test
    void anInterruptEndsAllCalls() throws Exception {
        var interrupted = new CountDownLatch(2);
        var caller = Thread.currentThread();
        var runs = new AtomicInteger();
        assertThrows(
                TimeLimitExceededException.class,
                () ->
                        Hedge.forIdempotentCalls(SHORT, 2)
                                .call(
                                        () -> {
                                            if (runs.incrementAndGet() == 2) {
                                                caller.interrupt();
                                            }
                                            try {
                                                return hang();
                                            } finally {
                                                interrupted.countDown();
                                            }
                                        }));
        assertTrue(Thread.interrupted());
        interrupted.await();
    }

    // Fallbacks and combinations.

    @Test
    void aFallbackReplacesFailures() throws Exception {
        Guard none = Guard.of(new Bulkhead(1, Duration.ZERO));
        var fallback = Fallback.<String>to(Exception::getMessage).when(IOException.class::isInstance);
        assertEquals("done", fallback.call(none, () -> "done"));
        assertEquals(
                "down",
                fallback.call(
                        none,
                        () -> {
                            throw new IOException("down");
                        }));
        assertThrows(
                IllegalStateException.class,
                () ->
                        fallback.call(
                                none,
                                () -> {
                                    throw new IllegalStateException();
                                }));
        var first = new IOException("down");
        var failing =
                Fallback.<String>to(
                        failure -> {
                            throw new IllegalStateException("no replacement");
                        });
        var thrown =
                assertThrows(
                        IllegalStateException.class,
                        () ->
                                failing.call(
                                        none,
                                        () -> {
                                            throw first;
                                        }));
        assertArrayEquals(new Throwable[] {first}, thrown.getSuppressed());
    }

    @Test
    void aReplacementMayThrowTheFailureAgain() {
        var failure = new IllegalStateException("down");
        Work<String, RuntimeException> failing =
                () -> {
                    throw failure;
                };
        var again =
                Fallback.<String>to(
                        same -> {
                            throw (RuntimeException) same;
                        });
        var bulkhead = new Bulkhead(1, Duration.ZERO);
        assertSame(failure, assertThrows(IllegalStateException.class, () -> again.call(bulkhead, failing)));
        assertEquals(0, failure.getSuppressed().length);
    }

    @Test
    void anInterruptThatIsReplacedIsKept() throws Exception {
        Work<String, InterruptedException> interrupted =
                () -> {
                    throw new InterruptedException();
                };
        var bulkhead = new Bulkhead(1, Duration.ZERO);
        assertEquals("none", Fallback.to(failure -> "none").call(bulkhead, interrupted));
        assertTrue(Thread.interrupted());
    }

    @Test
    void guardsCanBeCombined() throws Exception {
        var timer = new FakeTimer();
        var breaker = new CircuitBreaker(CircuitBreaker.Options.DEFAULT.window(4).timer(timer));
        Guard all =
                Guard.of(
                        RetryPolicy.of(failure -> Verdict.TRANSIENT).attempts(3).timer(timer),
                        breaker,
                        new TimeLimiter(FOREVER),
                        new Bulkhead(1, Duration.ZERO));
        int[] runs = {0};
        Work<Void, IOException> down =
                () -> {
                    runs[0]++;
                    throw new IOException("down");
                };
        assertThrows(IOException.class, () -> all.call(down));
        assertEquals(3, runs[0]);
        assertThrows(CircuitOpenException.class, () -> all.call(down)); // After the fourth failure.
        assertEquals(4, runs[0]);
        assertEquals("none", Fallback.to(failure -> "none").call(all, () -> "some"));
        timer.now += Duration.ofSeconds(5).toNanos();
        assertEquals("some", Fallback.to(failure -> "none").call(all, () -> "some"));
    }

    @Test
    void whatCannotBeSetIsRejected() {
        assertThrows(IllegalArgumentException.class, () -> new Bulkhead(0, Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> new Bulkhead(1, Duration.ofNanos(-1)));
        assertThrows(IllegalArgumentException.class, () -> new TimeLimiter(Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> Hedge.forIdempotentCalls(SHORT, 1));
        assertThrows(IllegalArgumentException.class, () -> Hedge.forIdempotentCalls(Duration.ofNanos(-1), 2));
        assertThrows(IllegalArgumentException.class, () -> new Budget(1.1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Budget(Double.NaN, 1));
        assertThrows(IllegalArgumentException.class, () -> new Budget(0.1, 0));
    }
}
