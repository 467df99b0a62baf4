// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Limits the time that callers wait for a call. The call runs in another thread. At the end of the
 * limit, or if the caller is interrupted, that thread is interrupted, and the caller gets a {@link
 * TimeLimitExceededException} immediately, even if the call does not respond to the interrupt. The
 * call may then still take effect.
 *
 * <p>Thread-local state of the caller, such as a transaction, is not visible to the call; its context
 * class loader is, unless the call runs in another executor. Database transactions have their own
 * timeout ({@code Policy.timeout} of {@code appserver-retry}).
 */
public final class TimeLimiter implements Guard {

    private final Duration limit;
    private final Executor executor;

    /**
     * Creates a time limiter that runs calls in daemon threads of its own, without a maximum
     * number. Put a {@link Bulkhead} inside of the time limiter to limit the calls that have been
     * abandoned but still run.
     *
     * @param limit the maximum time of a call
     */
    public TimeLimiter(Duration limit) {
        this(limit, Threads.DAEMONS);
    }

    /**
     * Creates a time limiter.
     *
     * @param limit the maximum time of a call, including the time until its thread is available
     * @param executor runs calls in other threads, such as virtual threads
     */
    public TimeLimiter(Duration limit, Executor executor) {
        if (limit.isNegative() || limit.isZero()) {
            throw new IllegalArgumentException("limit must be positive: " + limit);
        }
        limit.toNanos(); // Throws if it exceeds 292 years.
        this.limit = limit;
        this.executor = Objects.requireNonNull(executor, "executor");
    }

    /**
     * Creates a guard that runs calls in their callers' threads, for calls with thread-local state.
     * At the end of the limit, it interrupts the thread. When the call has returned, with any
     * result, the caller gets the {@link TimeLimitExceededException}, and the interrupt flag is
     * clear. A call that does not respond to interrupts is not limited.
     *
     * @param limit the maximum time of a call
     * @return the guard
     */
    public static Guard inCallersThread(Duration limit) {
        return new InterruptingLimiter(new TimeLimiter(limit).limit);
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T call(Work<T, X> work) throws X {
        var isDecided = new AtomicBoolean(); // Set by the call when it begins, or by the caller when it gives up.
        var task =
                new FutureTask<T>(
                        () -> {
                            if (isDecided.getAndSet(true)) {
                                throw new CancellationException();
                            }
                            return work.run();
                        });
        executor.execute(task);
        try {
            return task.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw abandon(task, isDecided, "the call did not end within " + limit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw abandon(task, isDecided, "interrupted while waiting for the call");
        } catch (ExecutionException e) {
            throw Threads.<X>rethrown(e.getCause());
        }
    }

    private static TimeLimitExceededException abandon(
            FutureTask<?> task, AtomicBoolean isDecided, String message) {
        boolean hasBegun = isDecided.getAndSet(true);
        task.cancel(true);
        return new TimeLimitExceededException(message, hasBegun);
    }
}
