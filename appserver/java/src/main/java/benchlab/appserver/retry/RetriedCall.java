// SPDX-License-Identifier: Apache-2.0
// A call while it is made, and made again.
package benchlab.appserver.retry;

import java.sql.SQLException;

/** The outermost call of its thread, from its first attempt to its end. */
final class RetriedCall implements AutoCloseable {

    private static final ThreadLocal<RetriedCall> CURRENT = new ThreadLocal<>();
    private static final RetryMeter UNREAD = new RetryMeter();
    private static final String UNABLE_TO_CONNECT = "08001";

    private final Policy policy;
    private final boolean mayRepeat;
    private final Timer timer;
    private final RetryMeter meter;
    private final long start;
    private long lostUntil;
    private int attempts = 1;
    private Exception earlier;
    private Throwable uncommitted; // What ended an attempt's transaction before its commit.

    /**
     * Begins a call.
     *
     * @param mayRepeat whether it is retried when its outcome is unknown
     */
    RetriedCall(Policy policy, boolean mayRepeat, Timer timer) {
        this.policy = policy;
        this.mayRepeat = mayRepeat;
        this.timer = timer;
        meter = policy.meter() == null ? UNREAD : policy.meter();
        start = timer.nanoTime();
        lostUntil = start;
        meter.countCall();
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

    /** Decides after a failure; if there is to be another attempt, pauses before it. */
    boolean isToBeRetried(Exception failure) {
        if (earlier != null && earlier != failure) {
            failure.addSuppressed(earlier);
        }
        earlier = failure;
        Fault fault = faultOf(failure);
        meter.count(fault);
        boolean isRetried = isAllowed(fault) && pause(policy.backoffs().get(fault));
        long now = timer.nanoTime();
        meter.addLost(now - lostUntil);
        lostUntil = now;
        if (isRetried) {
            attempts++;
            uncommitted = null;
            meter.countRetry();
        } else if (fault != Fault.PERMANENT) {
            meter.countGivenUp();
        }
        return isRetried;
    }

    @Override
    public void close() {
        CURRENT.remove();
    }

    private Fault faultOf(Exception failure) {
        Fault fault = Faults.of(failure);
        return fault == Fault.CONNECTION_LOST && !isCertain(failure)
                ? Fault.OUTCOME_UNKNOWN
                : fault;
    }

    /** Whether nothing was committed. */
    private boolean isCertain(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each == uncommitted
                    || each instanceof SQLException error
                            && UNABLE_TO_CONNECT.equals(error.getSQLState())) {
                return true;
            }
        }
        return false;
    }

    private boolean isAllowed(Fault fault) {
        return policy.backoffs().containsKey(fault)
                && (fault != Fault.OUTCOME_UNKNOWN || mayRepeat)
                && attempts < policy.attempts();
    }

    /** False, without a pause or with a part of one, if there can be no other attempt after it. */
    private boolean pause(Backoff backoff) {
        long pause = backoff.pause(attempts, timer.random());
        long passed = timer.nanoTime() - start;
        if (Thread.currentThread().isInterrupted()
                || pause > policy.deadline().toNanos() - passed
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
