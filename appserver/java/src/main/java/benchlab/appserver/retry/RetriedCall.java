// SPDX-License-Identifier: Apache-2.0
// A call in progress, with its retries.
package benchlab.appserver.retry;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.Predicate;

/** The outermost call of its thread, from its first attempt to its end. */
final class RetriedCall implements AutoCloseable {

    private static final ThreadLocal<RetriedCall> CURRENT = new ThreadLocal<>();
    private static final RetryMetrics UNREAD = new RetryMetrics();

    private final Policy policy;
    private final boolean hasKey;
    private final Timer timer;
    private final RetryMetrics metrics;
    private final long start;
    private long lostUntil;
    private int attempts = 1;
    private Exception earlier;
    private Throwable uncommitted; // What ended an attempt's transaction before its commit.
    private boolean isKeyed; // Whether another attempt tells the outcome, by a key.
    private boolean isKeyLast; // Whether an attempt's commit may still put the key there.
    private boolean isUnknown; // Whether an attempt may have taken effect.
    private int open; // Transactions of the attempt that are open, inside one another.
    private boolean isSpread; // See noteCommit.
    private boolean wasSpread; // When the attempt began.
    private boolean isOver; // No other attempt may be made.

    /**
     * Begins a call.
     *
     * @param hasKey whether each attempt puts the call's {@link IdempotencyKey} there
     */
    RetriedCall(Policy policy, boolean hasKey, Timer timer) {
        this.policy = policy;
        this.hasKey = hasKey;
        isKeyed = hasKey;
        this.timer = timer;
        metrics = policy.metrics() == null ? UNREAD : policy.metrics();
        start = timer.nanoTime();
        lostUntil = start;
        metrics.countCall();
        if (policy.budget() != null) {
            policy.budget().earn();
        }
        CURRENT.set(this);
    }

    static boolean isUnderWay() {
        return CURRENT.get() != null;
    }

    /** Says that a failure kept the transaction of this thread's attempt from its commit. */
    static void noteUncommitted(Throwable failure) {
        RetriedCall call = CURRENT.get();
        if (call != null) {
            call.uncommitted = failure;
        }
    }

    /** Nanoseconds that are left of this thread's call; {@code Long.MAX_VALUE} without a limit. */
    static long timeLeft() {
        RetriedCall call = CURRENT.get();
        return call == null ? Long.MAX_VALUE : call.left();
    }

    private long left() {
        Duration timeout = policy.timeout();
        return timeout == null
                ? Long.MAX_VALUE
                : Math.max(0, timeout.toNanos() - (timer.nanoTime() - start));
    }

    /** Says that a transaction begins. */
    static void noteBegin() {
        RetriedCall call = CURRENT.get();
        if (call != null) {
            call.open++;
        }
    }

    /** Says that a transaction has ended, in whatever way. */
    static void noteEnd() {
        RetriedCall call = CURRENT.get();
        if (call != null) {
            call.open--;
        }
    }

    /**
     * Says that a transaction without a key was committed, or may have been. Once it was inside of
     * another one, or is not known, the work must not be run again. Transactions that are committed
     * one after the other are the work's own affair: the first ones may only read.
     */
    static void noteCommit(boolean isKnown) {
        RetriedCall call = CURRENT.get();
        if (call != null && (call.open > 1 || !isKnown)) {
            call.isSpread = true;
        }
    }

    /** True if an earlier attempt of this thread's call may have taken effect. */
    static boolean isOutcomeUnknown() {
        RetriedCall call = CURRENT.get();
        return call != null && call.isUnknown;
    }

    /** True if this thread's call can have another attempt after a fault, but for its time. */
    static boolean mayRetry(Fault fault) {
        RetriedCall call = CURRENT.get();
        return call != null && call.isAllowed(fault);
    }

    /** Says that this thread's attempt puts its key there with the commit. */
    static void noteKeyLast() {
        RetriedCall call = CURRENT.get();
        if (call != null) {
            call.isKeyed = true;
            call.isKeyLast = true;
        }
    }

    /**
     * Says that this thread's attempt has begun with the call's key. If that was not there, no
     * earlier one took effect; one whose key comes last still may, if this one is rolled back.
     *
     * @throws OutcomeUnknownException if a transaction inside of an earlier one took effect, so that
     *     the work must not be run again
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
                    "a transaction inside of this one may have been committed before");
        }
        call.isUnknown &= !isTaken || call.isKeyLast;
    }

    /** Decides after a failure; if there is to be another attempt, pauses before it. */
    boolean isToBeRetried(Exception failure) {
        if (earlier != null && earlier != failure) {
            failure.addSuppressed(earlier);
        }
        earlier = failure;
        Fault fault = faultOf(failure);
        metrics.count(fault);
        isUnknown = fault == Fault.OUTCOME_UNKNOWN || isKeyed && isUnknown;
        boolean isRetried = isAllowed(fault) && pause(policy.backoffs().get(fault));
        long now = timer.nanoTime();
        metrics.addTimeInFailedAttempts(now - lostUntil);
        lostUntil = now;
        if (isRetried) {
            attempts++;
            uncommitted = null;
            wasSpread = isSpread;
            metrics.countRetry();
        } else if (fault != Fault.PERMANENT || isUnknown) {
            metrics.countGivenUp();
        }
        return isRetried;
    }

    /** After the last attempt, whose own failure may look as if nothing was committed. */
    void checkOutcome(Exception failure) {
        // A container may have put its own exception around one that says so.
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

    /** True if nothing was committed. */
    private boolean isCertain(Throwable failure) {
        return anyCause(
                failure,
                cause ->
                        cause == uncommitted
                                || cause instanceof SQLException error
                                        && Faults.isUnableToConnect(error));
    }

    /** True if something holds for a failure or one of its causes, which may be a circle. */
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
                && attempts < mostAttempts();
    }

    /** Only another attempt can find out an unknown outcome. */
    private long mostAttempts() {
        return isKeyed && isUnknown ? 2L * policy.attempts() : policy.attempts();
    }

    /** False, without a pause or with a part of one, if there can be no other attempt after it. */
    private boolean pause(Backoff backoff) {
        long pause = backoff.pause(attempts, timer.random());
        long passed = timer.nanoTime() - start;
        if (Thread.currentThread().isInterrupted()
                || pause > policy.deadline().toNanos() - passed
                || pause >= left()
                || policy.budget() != null && !policy.budget().spend()) {
            return false;
        }
        try {
            timer.sleep(pause);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
