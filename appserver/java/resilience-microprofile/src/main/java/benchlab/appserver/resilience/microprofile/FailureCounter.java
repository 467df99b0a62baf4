// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience.microprofile;

import benchlab.appserver.resilience.CircuitBreaker;
import benchlab.appserver.resilience.CircuitOpenException;
import benchlab.appserver.resilience.Work;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A circuit breaker that counts a call as a success if it throws an exception that is not a
 * failure.
 */
final class FailureCounter {

    private final CircuitBreaker breaker;
    private final Class<? extends Throwable>[] failOn;
    private final Class<? extends Throwable>[] skipOn;

    /**
     * The result of a call that does not count as a failure: a value, or an exception that the
     * annotation does not count.
     */
    private record End(@Nullable Object result, @Nullable Throwable skipped) {}

    /** An error that counts as a failure. A circuit breaker itself counts only exceptions. */
    private static final class CountedError extends Exception {
        private static final long serialVersionUID = 1;

        private final Error error;

        CountedError(Error error) {
            super(null, error, false, false);
            this.error = error;
        }
    }

    private FailureCounter(
            CircuitBreaker breaker,
            Class<? extends Throwable>[] failOn,
            Class<? extends Throwable>[] skipOn) {
        this.breaker = breaker;
        this.failOn = failOn;
        this.skipOn = skipOn;
    }

    static FailureCounter of(
            org.eclipse.microprofile.faulttolerance.CircuitBreaker mark, MethodGuard.Marks marks) {
        marks.check(mark.requestVolumeThreshold() >= 1, "requestVolumeThreshold must be at least 1");
        marks.check(
                mark.failureRatio() >= 0 && mark.failureRatio() <= 1,
                "failureRatio must be from 0 to 1");
        marks.check(mark.successThreshold() >= 1, "successThreshold must be at least 1");
        marks.check(mark.delay() >= 0, "delay must not be negative");
        Duration openTime = marks.time(mark.delay(), mark.delayUnit());
        var options =
                CircuitBreaker.Options.DEFAULT
                        .window(mark.requestVolumeThreshold())
                        .failureRate(Math.max(mark.failureRatio(), Double.MIN_NORMAL))
                        .trials(mark.successThreshold())
                        .openTime(openTime)
                        .recording(failure -> true);
        return new FailureCounter(new CircuitBreaker(options), mark.failOn(), mark.skipOn());
    }

    @Nullable Object call(Work<@Nullable Object, Exception> work) throws Exception {
        End end;
        try {
            end = breaker.<End, Exception>call(() -> run(work));
        } catch (CircuitOpenException e) {
            throw MethodGuard.translated(e);
        } catch (CountedError e) {
            throw e.error;
        }
        if (end.skipped instanceof Error error) {
            throw error;
        } else if (end.skipped != null) {
            throw (Exception) end.skipped;
        }
        return end.result;
    }

    private End run(Work<@Nullable Object, Exception> work) throws Exception {
        try {
            return new End(work.run(), null);
        } catch (Throwable failure) {
            if (MethodGuard.isAny(failure, skipOn) || !MethodGuard.isAny(failure, failOn)) {
                return new End(null, failure);
            } else if (failure instanceof Error error) {
                throw new CountedError(error);
            }
            throw failure;
        }
    }
}
