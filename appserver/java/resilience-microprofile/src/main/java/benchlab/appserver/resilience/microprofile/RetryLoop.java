// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience.microprofile;

import benchlab.appserver.resilience.Attempts;
import benchlab.appserver.resilience.Backoff;
import benchlab.appserver.resilience.FailureKind;
import benchlab.appserver.resilience.Timer;
import benchlab.appserver.resilience.Work;
import java.time.Duration;
import java.util.Set;
import org.eclipse.microprofile.faulttolerance.Retry;
import org.jspecify.annotations.Nullable;

/** Retries as {@code @Retry} specifies, but repeats no call that may have taken effect. */
final class RetryLoop {

    private static final Duration UNLIMITED = Duration.ofNanos(Long.MAX_VALUE);
    /** Types so general that {@code retryOn} does not show which exceptions its author expects. */
    private static final Set<Class<?>> UNSPECIFIC =
            Set.of(Throwable.class, Exception.class, RuntimeException.class);

    private final long maxRetries;
    private final Duration delay;
    private final Duration jitter;
    private final Duration maxDuration;
    private final Class<? extends Throwable>[] retryOn;
    private final Class<? extends Throwable>[] abortOn;
    private final boolean isIdempotent;

    private RetryLoop(Retry mark, MethodGuard.Marks marks) {
        maxRetries = mark.maxRetries() < 0 ? Long.MAX_VALUE : mark.maxRetries();
        delay = marks.time(mark.delay(), mark.delayUnit());
        jitter = marks.time(mark.jitter(), mark.jitterDelayUnit());
        Duration duration = marks.time(mark.maxDuration(), mark.durationUnit());
        marks.check(
                duration.isZero() || duration.compareTo(delay) > 0,
                "maxDuration must be longer than delay");
        maxDuration = duration.isZero() ? UNLIMITED : duration;
        retryOn = mark.retryOn();
        abortOn = mark.abortOn();
        isIdempotent = marks.find(Idempotent.class) != null;
    }

    static RetryLoop of(Retry mark, MethodGuard.Marks marks) {
        marks.check(mark.maxRetries() >= -1, "maxRetries must be at least -1");
        marks.check(mark.delay() >= 0, "delay must not be negative");
        marks.check(mark.maxDuration() >= 0, "maxDuration must not be negative");
        marks.check(mark.jitter() >= 0, "jitter must not be negative");
        return new RetryLoop(mark, marks);
    }

    @Nullable Object call(Work<@Nullable Object, Exception> work, Timer timer) throws Exception {
        var attempts = new Attempts(maxDuration, null, null, null, timer);
        while (true) {
            try {
                return work.run();
            } catch (Throwable failure) {
                FailureKind kind = kindOf(failure);
                boolean isRetried = kind == FailureKind.TRANSIENT && attempts.number() <= maxRetries;
                if (!attempts.next(
                        exceptionOf(failure),
                        kind,
                        isRetried ? Backoff.NONE : null,
                        nextDelay(timer.random()))) {
                    throw failure;
                }
            }
        }
    }

    /** Returns a random delay, at most {@code jitter} longer or shorter than {@code delay}. */
    private Duration nextDelay(double random) {
        long nanos = delay.toNanos() + (long) ((2 * random - 1) * jitter.toNanos());
        return Duration.ofNanos(Math.max(0, nanos));
    }

    private FailureKind kindOf(Throwable failure) {
        if (MethodGuard.isAny(failure, abortOn) || !MethodGuard.isAny(failure, retryOn)) {
            return FailureKind.PERMANENT;
        }
        return isIdempotent || isNamed(failure) || !UnknownOutcomes.contain(failure)
                ? FailureKind.TRANSIENT
                : FailureKind.OUTCOME_UNKNOWN;
    }

    private boolean isNamed(Throwable failure) {
        for (Class<? extends Throwable> type : retryOn) {
            if (!UNSPECIFIC.contains(type) && type.isInstance(failure)) {
                return true;
            }
        }
        return false;
    }

    /** An error of an attempt. */
    private static final class FailedAttempt extends Exception {
        private static final long serialVersionUID = 1;

        FailedAttempt(Throwable error) {
            super(null, error, true, false);
        }
    }

    private static Exception exceptionOf(Throwable failure) {
        return failure instanceof Exception exception ? exception : new FailedAttempt(failure);
    }
}
