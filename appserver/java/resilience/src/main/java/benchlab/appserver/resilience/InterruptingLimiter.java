// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Interrupts the thread of a call at the end of a time limit. */
final class InterruptingLimiter implements Guard {

    private final Duration limit;

    /** A call and its thread. The lock keeps an interrupt from arriving after the call has ended. */
    private static final class Limited {
        private final Thread thread = Thread.currentThread();
        private boolean hasEnded;
        private boolean isLate;

        synchronized void interrupt() {
            if (!hasEnded) {
                isLate = true;
                thread.interrupt();
            }
        }

        synchronized boolean end() {
            hasEnded = true;
            return isLate;
        }
    }

    InterruptingLimiter(Duration limit) {
        this.limit = limit;
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T call(Work<T, X> work) throws X {
        var call = new Limited();
        var alarm = Threads.ALARMS.schedule(call::interrupt, limit.toNanos(), TimeUnit.NANOSECONDS);
        T result;
        try {
            result = work.run();
        } catch (Exception failure) {
            TimeLimitExceededException late = end(call);
            if (late == null) {
                throw failure;
            }
            late.addSuppressed(failure);
            throw late;
        } catch (Throwable error) {
            end(call);
            throw error;
        } finally {
            alarm.cancel(false);
        }
        TimeLimitExceededException late = end(call);
        if (late != null) {
            throw late;
        }
        return result;
    }

    private @Nullable TimeLimitExceededException end(Limited call) {
        if (!call.end()) {
            return null;
        }
        Thread.interrupted(); // The flag is that of this guard.
        return new TimeLimitExceededException("the call did not end within " + limit, true);
    }
}
