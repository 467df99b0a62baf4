// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.time.Duration;

/**
 * Observes retried calls, for logs and metrics. Its methods run in the thread of the call, and delay
 * it. An exception of a listener is logged, and does not affect the call.
 */
public interface RetryListener {

    /**
     * Called after a failed attempt that is followed by another one.
     *
     * @param attempt the failed attempt
     * @param delay the delay before the next attempt
     */
    default void onRetry(FailedAttempt attempt, Duration delay) {}

    /**
     * Called if a call fails.
     *
     * @param last the last attempt
     */
    default void onFailure(FailedAttempt last) {}

    /**
     * Called if a call succeeds.
     *
     * @param attempts the number of attempts, including the successful one
     */
    default void onSuccess(int attempts) {}

    /**
     * A failed attempt.
     *
     * @param number the number of the attempt in its call, starting with 1
     * @param kind the class of the failure: a {@link FailureKind}, or a fault of another policy
     * @param failure the exception
     * @param elapsed the time since the start of the call
     */
    record FailedAttempt(int number, Enum<?> kind, Exception failure, Duration elapsed) {}
}
