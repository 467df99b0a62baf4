// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import benchlab.appserver.resilience.Attempts;
import benchlab.appserver.resilience.Timer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The outermost retried call of a thread, from its first attempt to its end. */
final class RetriedCall implements AutoCloseable {

    private static final ThreadLocal<RetriedCall> CURRENT = new ThreadLocal<>();
    private static final RetryMetrics UNREAD = new RetryMetrics();

    private final Policy policy;
    private final boolean hasKey;
    private final RetryMetrics metrics;
    private final Attempts attempts;
    private long lostUntil; // In nanoseconds since the start of the call.
    private @Nullable Throwable uncommitted; // The failure that ended a transaction before its commit.
    private boolean isKeyed; // True if a key lets another attempt find out the outcome.
    private boolean isKeyLast; // True if a commit may still insert the key.
    private boolean isUnknown; // True if an attempt may have taken effect.
    private int open; // The nesting depth of the attempt's transactions.
    private boolean isSpread; // See noteCommit.
    private boolean wasSpread; // The value of isSpread when the attempt began.
    private boolean isOver; // True if no other attempt is allowed.

    /**
     * Begins a call.
     *
     * @param policy the policy
     * @param hasKey true if each attempt stores the call's {@link IdempotencyKey}
     * @param timer the clock
     */
    RetriedCall(Policy policy, boolean hasKey, Timer timer) {
        this.policy = policy;
        this.hasKey = hasKey;
        isKeyed = hasKey;
        metrics = policy.metrics() == null ? UNREAD : policy.metrics();
        metrics.countCall();
        attempts =
                new Attempts(
                        policy.deadline(),
                        policy.timeout(),
                        policy.budget(),
                        policy.listener(),
                        timer);
        CURRENT.set(this);
    }

    static boolean isUnderWay() {
        return CURRENT.get() != null;
    }

    /** Records that a failure ended the transaction of this thread's attempt before its commit. */
    static void noteUncommitted(Throwable failure) {
        RetriedCall call = CURRENT.get();
        if (call != null) {
            call.uncommitted = failure;
        }
    }

    /**
     * Returns the remaining time of this thread's call in nanoseconds; {@code Long.MAX_VALUE}
     * without a limit.
     */
    static long timeLeft() {
        RetriedCall call = CURRENT.get();
        return call == null ? Long.MAX_VALUE : call.attempts.nanosLeft();
    }

    /** Records that a transaction begins. */
    static void noteBegin() {
        RetriedCall call = CURRENT.get();
        if (call != null) {
            call.open++;
        }
    }

    /** Records that a transaction has ended, with any result. */
    static void noteEnd() {
        RetriedCall call = CURRENT.get();
        if (call != null) {
            call.open--;
        }
    }

    /**
     * Records that a transaction without a key was or may have been committed. If it was nested in
     * another transaction, or its outcome is unknown, the work must not be run again. Transactions
     * that are committed one after another do not count, because the earlier transactions may only
     * read.
     */
    static void noteCommit(boolean isKnown) {
        RetriedCall call = CURRENT.get();
        if (call != null && (call.open > 1 || !isKnown)) {
            call.isSpread = true;
        }
    }

    /** Returns true if an earlier attempt of this thread's call may have taken effect. */
    static boolean isOutcomeUnknown() {
        RetriedCall call = CURRENT.get();
        return call != null && call.isUnknown;
    }

    /**
     * Returns true if this thread's call allows another attempt after a fault, ignoring its
     * deadline.
     */
    static boolean mayRetry(Fault fault) {
        RetriedCall call = CURRENT.get();
        return call != null && call.isAllowed(fault);
    }

    /** Records that this thread's attempt inserts its key together with the commit. */
    static void noteKeyLast() {
        RetriedCall call = CURRENT.get();
        if (call != null) {
            call.isKeyed = true;
            call.isKeyLast = true;
        }
    }

    /**
     * Records that this thread's attempt has tried to insert the call's key before running the
     * work. If the insert succeeded, no earlier attempt has taken effect. However, an earlier
     * attempt that inserts its key together with the commit may still be running. It can take
     * effect later if this attempt is rolled back.
     *
     * @param isTaken true if the key was inserted
     * @throws OutcomeUnknownException if a nested transaction of an earlier attempt may have been
     *     committed, so the work must not be run again
     */
    static void noteKey(boolean isTaken) {
        RetriedCall call = CURRENT.get();
        if (call == null) {
            return;
        }
        call.isKeyed = true;
        if (isTaken && call.wasSpread && !call.policy.repeatable()) {
            call.isOver = true;
            throw new OutcomeUnknownException(
                    "a nested transaction may have been committed by an earlier attempt");
        }
        call.isUnknown &= !isTaken || call.isKeyLast;
    }

    /** Decides whether to retry after a failure, and if so, waits for the backoff delay. */
    boolean isToBeRetried(Exception failure) {
        Fault fault = faultOf(failure);
        metrics.count(fault);
        isUnknown = fault == Fault.OUTCOME_UNKNOWN || isKeyed && isUnknown;
        boolean isRetried =
                attempts.next(
                        failure,
                        fault,
                        isAllowed(fault) ? policy.backoffs().get(fault) : null,
                        Duration.ZERO);
        long now = attempts.elapsedNanos();
        metrics.addTimeInFailedAttempts(now - lostUntil);
        lostUntil = now;
        if (isRetried) {
            uncommitted = null;
            wasSpread = isSpread;
            metrics.countRetry();
        } else if (fault != Fault.PERMANENT || isUnknown) {
            metrics.countGivenUp();
        }
        return isRetried;
    }

    /** Records the success of the call. Called after an attempt that has succeeded. */
    void succeed() {
        attempts.succeed();
    }

    /**
     * Throws an {@link OutcomeUnknownException} if it is unknown whether the call took effect.
     * Called after the last attempt, whose own failure may look as if nothing was committed.
     */
    void checkOutcome(Exception failure) {
        // A container may have wrapped the exception.
        if (isUnknown && !anyCause(failure, OutcomeUnknownException.class::isInstance)) {
            throw new OutcomeUnknownException(failure);
        }
    }

    @Override
    public void close() {
        CURRENT.remove();
    }

    private Fault faultOf(Exception failure) {
        Fault fault = Faults.of(failure);
        boolean isUnknown =
                fault != Fault.PERMANENT && isSpread
                        || fault == Fault.CONNECTION_LOST && !isCertain(failure);
        return isUnknown ? Fault.OUTCOME_UNKNOWN : fault;
    }

    /** Returns true if a failure shows that nothing was committed. */
    private boolean isCertain(Throwable failure) {
        return anyCause(
                failure,
                cause ->
                        cause == uncommitted
                                || cause instanceof SQLException error
                                        && Faults.isUnableToConnect(error));
    }

    /** Tests a failure and its causes, which may form a cycle. */
    private static boolean anyCause(Throwable failure, Predicate<Throwable> holds) {
        Set<Throwable> visited = Collections.newSetFromMap(new IdentityHashMap<>());
        Throwable cause = failure;
        while (cause != null && visited.add(cause)) {
            if (holds.test(cause)) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    private boolean isAllowed(Fault fault) {
        return !isOver
                && policy.backoffs().containsKey(fault)
                && (fault != Fault.OUTCOME_UNKNOWN || hasKey || policy.repeatable())
                && attempts.number() < mostAttempts();
    }

    /**
     * Returns the maximum number of attempts, which is higher if only another attempt can find out
     * the outcome.
     */
    private long mostAttempts() {
        return isKeyed && isUnknown ? 2L * policy.attempts() : policy.attempts();
    }
}
