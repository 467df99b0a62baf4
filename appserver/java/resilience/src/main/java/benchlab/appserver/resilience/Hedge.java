// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Makes a call again while the first one is still running, and returns the result that arrives
 * first, to shorten the slowest calls. The other calls are interrupted, but may take effect, so
 * hedging is only for calls that are idempotent. (J. Dean, L. A. Barroso, The Tail at Scale,
 * Communications of the ACM 56, 2013.)
 *
 * <p>A failed call does not end the wait for the calls that still run. If all calls have failed,
 * the exception of the last call is thrown, with the exceptions of the other calls as suppressed
 * exceptions. All calls run in other threads, at the same time: they must not share state. If no
 * thread is available for another call, the calls that still run are awaited. An interrupt of the
 * caller interrupts all calls.
 */
public final class Hedge implements Guard {

    private final Duration delay;
    private final int maxCalls;
    private final @Nullable Budget budget;
    private final Executor executor;

    private Hedge(Duration delay, int maxCalls, @Nullable Budget budget, Executor executor) {
        this.delay = delay;
        this.maxCalls = maxCalls;
        this.budget = budget;
        this.executor = executor;
    }

    /**
     * Creates a guard for calls that are all idempotent: a call that takes effect twice has the
     * same effect as a call that takes effect once.
     *
     * @param delay the time after which another call is made, such as the 95th percentile of the
     *     response time
     * @param maxCalls the maximum number of calls that run at the same time, at least 2
     * @return the guard
     */
    public static Hedge forIdempotentCalls(Duration delay, int maxCalls) {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("delay must not be negative: " + delay);
        } else if (maxCalls < 2) {
            throw new IllegalArgumentException("maxCalls must be at least 2: " + maxCalls);
        }
        delay.toNanos(); // Throws if it exceeds 292 years.
        return new Hedge(delay, maxCalls, null, Threads.DAEMONS);
    }

    /**
     * Returns a copy with a budget, from which each call after the first spends a retry. Without a
     * budget, a slow service gets {@code maxCalls} times its load.
     *
     * @param shared the budget; null for no limit
     * @return the guard
     */
    public Hedge budget(@Nullable Budget shared) {
        return new Hedge(delay, maxCalls, shared, executor);
    }

    /**
     * Returns a copy that runs calls with another executor.
     *
     * @param threads runs calls in other threads, such as virtual threads
     * @return the guard
     */
    public Hedge executor(Executor threads) {
        return new Hedge(delay, maxCalls, budget, Objects.requireNonNull(threads, "threads"));
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T call(Work<T, X> work) throws X {
        if (budget != null) {
            budget.earn();
        }
        var race = new Race<>(work);
        try {
            return race.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TimeLimitExceededException("interrupted while waiting for the call", true);
        } finally {
            race.calls.forEach(each -> each.cancel(true));
        }
    }

    /** The concurrent calls of the same work; the first result is returned. */
    private final class Race<T extends @Nullable Object, X extends Exception> {
        private final Work<T, X> work;
        private final List<FutureTask<T>> calls = new ArrayList<>();
        private final LinkedBlockingQueue<FutureTask<T>> ended = new LinkedBlockingQueue<>();
        private int failed;
        private @Nullable Throwable failure;

        Race(Work<T, X> work) {
            this.work = work;
        }

        T run() throws InterruptedException, X {
            start();
            boolean mayHedge = true;
            while (true) {
                boolean waitsForNext = mayHedge && calls.size() < maxCalls;
                FutureTask<T> first =
                        waitsForNext
                                ? ended.poll(delay.toNanos(), TimeUnit.NANOSECONDS)
                                : ended.take();
                if (first == null) {
                    mayHedge = (budget == null || budget.spend()) && startAnother();
                } else {
                    try {
                        return first.get();
                    } catch (ExecutionException e) {
                        note(e.getCause());
                        if (failed == calls.size()) {
                            throw Threads.<X>rethrown(failure);
                        }
                    }
                }
            }
        }

        private void start() {
            var call =
                    new FutureTask<T>(work::run) {
                        @Override
                        protected void done() {
                            ended.add(this);
                        }
                    };
            executor.execute(call);
            calls.add(call);
        }

        /** Returns false if no thread is available. */
        private boolean startAnother() {
            try {
                start();
                return true;
            } catch (RejectedExecutionException | OutOfMemoryError e) {
                return false;
            }
        }

        private void note(@Nullable Throwable next) {
            failed++;
            if (failure != null && next != null && next != failure) {
                next.addSuppressed(failure);
            }
            failure = next;
        }
    }
}
