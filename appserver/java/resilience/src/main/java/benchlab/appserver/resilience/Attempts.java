// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import benchlab.appserver.resilience.RetryListener.FailedAttempt;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of one call: their number, the delays between them, and the limits of the call.
 * {@link RetryPolicy} uses this class. Other retries, such as retries of database transactions, use
 * it with their own classes of faults. Not thread-safe.
 *
 * <pre>{@code
 * var attempts = new Attempts(Duration.ofSeconds(30), null, budget, listener, Timer.SYSTEM);
 * while (true) {
 *     try {
 *         T result = work.run();
 *         attempts.succeed();
 *         return result;
 *     } catch (Exception failure) {
 *         if (!attempts.next(failure, kind, isRetried ? backoff : null, Duration.ZERO)) {
 *             throw failure;
 *         }
 *     }
 * }
 * }</pre>
 */
public final class Attempts {

    private static final System.Logger LOGGER = System.getLogger(Attempts.class.getName());

    private final long deadlineNanos;
    private final long timeoutNanos;
    private final @Nullable Budget budget;
    private final @Nullable RetryListener listener;
    private final Timer timer;
    private final long start;
    private int number = 1;
    private @Nullable Exception earlier;

    /**
     * Begins a call, which earns a fraction of a retry for the budget.
     *
     * @param deadline the time from now after which no other attempt begins
     * @param timeout the time from now at which the call must have ended; null for no timeout
     * @param budget limits the retries; null for no limit
     * @param listener observes the call; may be null
     * @param timer the clock
     */
    public Attempts(
            Duration deadline,
            @Nullable Duration timeout,
            @Nullable Budget budget,
            @Nullable RetryListener listener,
            Timer timer) {
        deadlineNanos = deadline.toNanos();
        timeoutNanos = timeout == null ? Long.MAX_VALUE : timeout.toNanos();
        this.budget = budget;
        this.listener = listener;
        this.timer = timer;
        start = timer.nanoTime();
        if (budget != null) {
            budget.earn();
        }
    }

    /**
     * Returns the number of the current attempt.
     *
     * @return the number, starting with 1
     */
    public int number() {
        return number;
    }

    /**
     * Returns the time since the start of the call.
     *
     * @return the time in nanoseconds
     */
    public long elapsedNanos() {
        return timer.nanoTime() - start;
    }

    /**
     * Returns the time until the timeout.
     *
     * @return the time in nanoseconds; {@code Long.MAX_VALUE} without a timeout
     */
    public long nanosLeft() {
        return timeoutNanos == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : Math.max(0, timeoutNanos - elapsedNanos());
    }

    /**
     * Decides after a failure whether there is another attempt, and if so, waits for its delay. The
     * previous failure is added to {@code failure} as a suppressed exception. An interrupt ends the
     * call: there is no other attempt if the thread is interrupted, or if the failure or one of its
     * causes is an {@link InterruptedException}.
     *
     * @param failure the exception of the attempt
     * @param kind the class of the failure, for the listener
     * @param backoff the delays before retries; null if the failure must not be retried
     * @param minDelay the minimum delay
     * @return true if the next attempt may begin; false if the failure ends the call
     */
    public boolean next(Exception failure, Enum<?> kind, @Nullable Backoff backoff, Duration minDelay) {
        if (earlier != null && earlier != failure) {
            failure.addSuppressed(earlier);
        }
        earlier = failure;
        boolean goesOn = backoff != null && sleep(failure, kind, backoff, minDelay);
        if (goesOn) {
            number++;
        } else {
            tell(each -> each.onFailure(failed(failure, kind)));
        }
        return goesOn;
    }

    /** Records that the current attempt has succeeded. */
    public void succeed() {
        if (listener != null) {
            tell(each -> each.onSuccess(number));
        }
    }

    /** Waits before a retry. Returns false if no other attempt is possible afterwards. */
    private boolean sleep(Exception failure, Enum<?> kind, Backoff backoff, Duration minDelay) {
        long delay = Math.max(backoff.delay(number, timer.random()), minDelay.toNanos());
        if (Thread.currentThread().isInterrupted()
                || isInterrupt(failure)
                || delay > deadlineNanos - elapsedNanos()
                || delay >= nanosLeft()
                || budget != null && !budget.spend()) {
            return false;
        }
        tell(each -> each.onRetry(failed(failure, kind), Duration.ofNanos(delay)));
        try {
            timer.sleep(delay);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * Returns true if an attempt ended because its thread was interrupted. The work has then usually
     * cleared the interrupt flag.
     */
    private static boolean isInterrupt(Exception failure) {
        Set<Throwable> visited = Collections.newSetFromMap(new IdentityHashMap<>());
        Throwable cause = failure;
        while (cause != null && visited.add(cause)) {
            if (cause instanceof InterruptedException) {
                return true;
            }
            boolean isOfOtherThread = cause instanceof ExecutionException || cause instanceof CompletionException;
            cause = isOfOtherThread ? null : cause.getCause();
        }
        return false;
    }

    private FailedAttempt failed(Exception failure, Enum<?> kind) {
        return new FailedAttempt(number, kind, failure, Duration.ofNanos(elapsedNanos()));
    }

    private void tell(Consumer<RetryListener> event) {
        if (listener == null) {
            return;
        }
        try {
            event.accept(listener);
        } catch (RuntimeException e) {
            LOGGER.log(System.Logger.Level.WARNING, "a retry listener failed", e);
        }
    }
}
