// SPDX-License-Identifier: Apache-2.0
// Tests the annotations of MicroProfile Fault Tolerance in a container. No test depends on how long something takes.
package benchlab.appserver.resilience.microprofile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.spi.DefinitionException;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.eclipse.microprofile.faulttolerance.Asynchronous;
import org.eclipse.microprofile.faulttolerance.Bulkhead;
import org.eclipse.microprofile.faulttolerance.CircuitBreaker;
import org.eclipse.microprofile.faulttolerance.ExecutionContext;
import org.eclipse.microprofile.faulttolerance.Fallback;
import org.eclipse.microprofile.faulttolerance.FallbackHandler;
import org.eclipse.microprofile.faulttolerance.Retry;
import org.eclipse.microprofile.faulttolerance.Timeout;
import org.eclipse.microprofile.faulttolerance.exceptions.BulkheadException;
import org.eclipse.microprofile.faulttolerance.exceptions.CircuitBreakerOpenException;
import org.eclipse.microprofile.faulttolerance.exceptions.FaultToleranceDefinitionException;
import org.eclipse.microprofile.faulttolerance.exceptions.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FaultToleranceTest {

    private SeContainer container;
    private int runs;

    /** A step of a test, inside of a method of a bean. */
    @FunctionalInterface
    interface Step {
        Object run() throws Exception;
    }

    @ApplicationScoped
    static class Shop {
        @Inject private Prices prices;

        @Retry(delay = 0, jitter = 0)
        public Object retried(Step step) throws Exception {
            return step.run();
        }

        @Retry(maxRetries = 1, delay = 0, jitter = 0, retryOn = IOException.class, abortOn = ConnectException.class)
        public Object named(Step step) throws Exception {
            return step.run();
        }

        @Idempotent
        @Retry(maxRetries = -1, delay = 0, jitter = 0)
        public Object idempotent(Step step) throws Exception {
            return step.run();
        }

        @Retry(maxRetries = 5, delay = 1_000_000, maxDuration = 1_000_001, jitter = 0)
        @Fallback(fallbackMethod = "unknownPrice")
        public Object price(String article, Step step) throws Exception {
            return step.run() + article;
        }

        private Object unknownPrice(String article, Step step) {
            return prices.unknown() + article;
        }

        @Fallback(value = Handler.class, skipOn = IllegalStateException.class)
        public String handled(Step step) throws Exception {
            return (String) step.run();
        }

        @CircuitBreaker(
                requestVolumeThreshold = 4,
                successThreshold = 2,
                delay = 0,
                failOn = IOException.class,
                skipOn = ConnectException.class)
        public Object broken(Step step) throws Exception {
            return step.run();
        }

        @Retry(maxRetries = 1, delay = 0, jitter = 0, retryOn = Error.class)
        public Object retriedAfterErrors(Step step) throws Exception {
            return step.run();
        }

        @CircuitBreaker(requestVolumeThreshold = 2, delay = 1_000_000)
        public Object brokenByErrors(Step step) throws Exception {
            return step.run();
        }

        @CircuitBreaker(requestVolumeThreshold = 2, delay = 1_000_000)
        @Retry(maxRetries = 9, delay = 0, jitter = 0, abortOn = CircuitBreakerOpenException.class)
        public Object retriedInBreaker(Step step) throws Exception {
            return step.run();
        }

        @Timeout(1)
        public Object late(Step step) throws Exception {
            return step.run();
        }

        @Timeout(1)
        @Retry(delay = 0, jitter = 0)
        public Object lateAndRetried(Step step) throws Exception {
            return step.run();
        }

        @Bulkhead(1)
        public Object alone(Step step) throws Exception {
            return step.run();
        }

        public Object unmarked(Step step) throws Exception {
            return step.run();
        }
    }

    @Retry(maxRetries = 1, delay = 0, jitter = 0)
    static class Base {
        public Object inherited(Step step) throws Exception {
            return step.run();
        }
    }

    @Dependent
    static class Derived extends Base {}

    @ApplicationScoped
    static class Prices {
        String unknown() {
            return "unknown price of ";
        }
    }

    @Dependent
    static class Handler implements FallbackHandler<String> {
        @Inject private Prices prices;

        @Override
        public String handle(ExecutionContext context) {
            return prices.unknown() + context.getMethod().getName() + context.getParameters().length + context.getFailure().getMessage();
        }
    }

    private <T> T bean(Class<T> type) {
        if (container == null) {
            container =
                    SeContainerInitializer.newInstance()
                            .disableDiscovery()
                            .addExtensions(new FaultToleranceExtension())
                            .addBeanClasses(Shop.class, Prices.class, Handler.class, Derived.class, Shared.class)
                            .initialize();
        }
        return container.select(type).get();
    }

    @AfterEach
    void close() {
        if (container != null) {
            container.close();
        }
    }

    /**
     * Returns a step that throws an exception {@code times} times, and then returns the number of
     * runs.
     */
    private Step fail(int times, Exception failure) {
        runs = 0;
        return () -> {
            if (++runs <= times) {
                throw failure;
            }
            return runs;
        };
    }

    private int runsOf(Step call) {
        assertThrows(Exception.class, call::run);
        return runs;
    }

    @Test
    void aFailedCallIsRetried() throws Exception {
        var shop = bean(Shop.class);
        assertEquals(4, shop.retried(fail(3, new IllegalStateException())));
        var step = fail(9, new IllegalStateException());
        assertEquals(4, runsOf(() -> shop.retried(step)));
        assertThrows(IllegalStateException.class, () -> shop.unmarked(fail(1, new IllegalStateException())));
        assertEquals(101, shop.idempotent(fail(100, new IllegalStateException())));
    }

    @Test
    void aCallThatMayHaveTakenEffectIsNotAppliedTwice() throws Exception {
        var shop = bean(Shop.class);
        for (Exception unknown :
                List.of(
                        new IOException("the response was lost"),
                        new SQLException("lost", "08006"),
                        new SQLException("shut down", "57P01"),
                        new SQLRecoverableException("lost"),
                        new SQLNonTransientConnectionException("lost"),
                        new SQLTransientConnectionException("lost", (String) null, new SQLException("lost", "08006")),
                        new SQLException("killed", "70100", 1927),
                        new TimeoutException("late"),
                        new RuntimeException(new SocketTimeoutException("the response is late")),
                        new UncheckedIOException(new IOException("the response was lost")),
                        new RuntimeException(new SQLException("lost", "08006")),
                        new IllegalStateException(chained(new SQLException("lost", "08006"))))) {
            var step = fail(1, unknown);
            assertEquals(1, runsOf(() -> shop.retried(step)));
            assertEquals(2, shop.idempotent(fail(1, unknown)));
        }
        assertEquals(2, shop.retried(fail(1, new ConnectException("refused"))));
        assertEquals(2, shop.retried(fail(1, new SQLException("refused", "08001"))));
        assertEquals(2, shop.retried(fail(1, new SQLTransientConnectionException("no connection of the pool is free"))));
        assertEquals(2, shop.retried(fail(1, new SQLException("max_statement_time exceeded", "70100", 1969))));
        assertEquals(2, shop.retried(fail(1, new SQLException("the query was interrupted", "70100", 1317))));
        assertEquals(2, shop.retried(fail(1, new RuntimeException(new ConnectException("refused")))));
        assertEquals(2, shop.retried(fail(1, new RuntimeException(new SQLException("refused", "08001")))));
        assertEquals(2, shop.retried(fail(1, new RuntimeException(new SQLException("deadlock", "40P01")))));
        assertEquals(2, shop.named(fail(1, new IOException("the response was lost"))));
    }

    /** Returns the exception of a batch with another exception. */
    private static SQLException chained(SQLException next) {
        var batch = new SQLException("in a batch");
        batch.setNextException(next);
        return batch;
    }

    @Test
    void anInterruptEndsTheRetries() throws Exception {
        var shop = bean(Shop.class);
        for (Exception interrupt : List.of(new InterruptedException(), new IllegalStateException(new InterruptedException()))) {
            var step = fail(1, interrupt);
            assertEquals(1, runsOf(() -> shop.retried(step)));
            var again = fail(1, interrupt);
            assertEquals(1, runsOf(() -> shop.idempotent(again)));
        }
        assertEquals("unknown price of pears", shop.price("pears", fail(9, new InterruptedException())));
        assertTrue(Thread.interrupted());
    }

    @Test
    void exceptionsCanBeChosen() {
        var shop = bean(Shop.class);
        var other = fail(1, new IllegalStateException());
        assertEquals(1, runsOf(() -> shop.named(other)));
        var aborted = fail(1, new ConnectException());
        assertEquals(1, runsOf(() -> shop.named(aborted)));
    }

    @Test
    void aMethodReplacesTheFailure() throws Exception {
        var shop = bean(Shop.class);
        assertEquals("1 euro for apples", shop.price(" for apples", () -> "1 euro"));
        assertEquals("unknown price of pears", shop.price("pears", fail(9, new IOException("lost"))));
        assertEquals(1, runs);
    }

    @Test
    void aHandlerReplacesTheFailure() throws Exception {
        var shop = bean(Shop.class);
        assertEquals("unknown price of handled1down", shop.handled(fail(1, new IOException("down"))));
        assertThrows(IllegalStateException.class, () -> shop.handled(fail(1, new IllegalStateException())));
    }

    @Test
    void errorsAreFailuresToo() throws Exception {
        var shop = bean(Shop.class);
        Step wrong =
                () -> {
                    runs++;
                    throw new AssertionError("down");
                };
        assertEquals("unknown price of pears", shop.price("pears", wrong));
        assertEquals("unknown price of handled1down", shop.handled(wrong));
        assertThrows(AssertionError.class, () -> shop.broken(wrong)); // The annotation skips it.
        runs = 0;
        assertThrows(AssertionError.class, () -> shop.retried(wrong));
        assertEquals(1, runs);
        runs = 0;
        assertThrows(AssertionError.class, () -> shop.retriedAfterErrors(wrong));
        assertEquals(2, runs);
        for (int k = 0; k < 2; k++) {
            assertThrows(AssertionError.class, () -> shop.brokenByErrors(wrong));
        }
        assertThrows(CircuitBreakerOpenException.class, () -> shop.brokenByErrors(wrong));
    }

    @Test
    void aCircuitBreakerCountsFailures() throws Exception {
        var shop = bean(Shop.class);
        var failure = new IOException("down");
        for (int k = 0; k < 2; k++) {
            assertThrows(ConnectException.class, () -> shop.broken(fail(1, new ConnectException())));
            assertThrows(IllegalStateException.class, () -> shop.broken(fail(1, new IllegalStateException())));
        }
        var step = fail(9, failure);
        for (int k = 0; k < 2; k++) { // 2 of 4, since the exceptions above are successes.
            assertEquals(k + 1, runsOf(() -> shop.broken(step)));
        }
        // The delay is zero, so each call is a trial while the circuit breaker is open.
        assertEquals("trial", shop.broken(() -> "trial"));
        assertEquals("trial", shop.broken(() -> "trial"));
        assertEquals("closed", shop.broken(() -> "closed"));
    }

    @Test
    void anOpenCircuitBreakerEndsTheRetries() {
        var shop = bean(Shop.class);
        var step = fail(9, new IllegalStateException());
        assertThrows(CircuitBreakerOpenException.class, () -> shop.retriedInBreaker(step));
        assertEquals(2, runs);
        assertThrows(CircuitBreakerOpenException.class, () -> shop.retriedInBreaker(step));
        assertEquals(2, runs);
    }

    @Test
    void aCallHasATimeout() {
        var shop = bean(Shop.class);
        var caller = Thread.currentThread();
        Step hang =
                () -> {
                    runs++;
                    assertEquals(caller, Thread.currentThread());
                    new CountDownLatch(1).await();
                    return null;
                };
        assertThrows(TimeoutException.class, () -> shop.late(hang));
        runs = 0;
        assertThrows(TimeoutException.class, () -> shop.lateAndRetried(hang));
        assertEquals(1, runs);
        assertFalse(Thread.interrupted());
    }

    @Test
    void aBulkheadLimitsConcurrentCalls() throws Exception {
        var shop = bean(Shop.class);
        // Weld does not intercept a call of the same bean within the same thread.
        var other =
                new FutureTask<>(
                        () -> assertThrows(BulkheadException.class, () -> shop.alone(() -> null)));
        shop.alone(
                () -> {
                    new Thread(other).start();
                    return other.get();
                });
        assertEquals("again", shop.alone(() -> "again"));
    }

    @Test
    void theAnnotationOfAClassAppliesToInheritedMethods() throws Exception {
        assertEquals(2, bean(Derived.class).inherited(fail(1, new IllegalStateException())));
    }

    @Dependent
    static class Shared {
        @Bulkhead(1)
        public Object alone(Step step) throws Exception {
            return step.run();
        }
    }

    @Test
    void instancesOfABeanShareTheirGuards() throws Exception {
        Shared one = bean(Shared.class);
        Shared other = bean(Shared.class);
        one.alone(() -> assertThrows(BulkheadException.class, () -> other.alone(() -> null)));
    }

    static class Async {
        @Asynchronous
        public CompletionStage<String> later() {
            return CompletableFuture.completedFuture("later");
        }
    }

    static class NoFallback {
        @Fallback(fallbackMethod = "missing")
        public String price(String article) {
            return article;
        }

        public String missing(int number) {
            return "" + number;
        }
    }

    static class NegativeRetries {
        @Retry(maxRetries = -2)
        public void call() {}
    }

    static class NoVolume {
        @CircuitBreaker(requestVolumeThreshold = 0)
        public void call() {}
    }

    static class LongDelay {
        @Retry(delay = 10, maxDuration = 10)
        public void call() {}
    }

    static class WrongHandler {
        @Fallback(Handler.class)
        public Integer call() {
            return 1;
        }
    }

    @Test
    void mistakesAreReportedWhenTheApplicationStarts() {
        for (var mistake :
                List.of(Async.class, NoFallback.class, NegativeRetries.class, NoVolume.class, LongDelay.class, WrongHandler.class)) {
            var initializer =
                    SeContainerInitializer.newInstance()
                            .disableDiscovery()
                            .addExtensions(new FaultToleranceExtension())
                            .addBeanClasses(mistake, Prices.class, Handler.class);
            var thrown = assertThrows(RuntimeException.class, initializer::initialize, mistake.getName());
            Throwable cause = thrown instanceof FaultToleranceDefinitionException ? thrown : thrown.getCause();
            if (thrown instanceof DefinitionException && cause == null) {
                cause = thrown.getSuppressed().length > 0 ? thrown.getSuppressed()[0] : thrown;
            }
            assertInstanceOf(FaultToleranceDefinitionException.class, cause, thrown.toString());
        }
    }
}
