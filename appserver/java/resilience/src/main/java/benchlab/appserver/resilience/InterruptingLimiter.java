// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Interrupts the thread of a call at the end of a time limit. */
final class InterruptingLimiter implements Guard {

    /** The innermost call of each thread. */
    private static final ThreadLocal<@Nullable Limited> CURRENT = new ThreadLocal<>();

    private final Duration limit;

    /** A call and its thread. The lock keeps an interrupt from arriving after the call has ended. */
    private static final class Limited {
        private final Thread thread = Thread.currentThread();
        private final @Nullable Limited outer;
        private boolean hasEnded;
        private boolean isLate;

        Limited(@Nullable Limited outer) {
            this.outer = outer;
        }

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

        synchronized boolean isLate() {
            return isLate;
        }
    }

    InterruptingLimiter(Duration limit) {
        this.limit = limit;
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T call(Work<T, X> work) throws X {
        var call = new Limited(CURRENT.get());
        var alarm = Threads.ALARMS.schedule(call::interrupt, limit.toNanos(), TimeUnit.NANOSECONDS);
        T result;
        try {
            CURRENT.set(call);
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
            leave(call);
        }
        TimeLimitExceededException late = end(call);
        if (late != null) {
            throw late;
        }
        return result;
    }

    private static void leave(Limited call) {
        if (call.outer == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(call.outer);
        }
    }

    private @Nullable TimeLimitExceededException end(Limited call) {
        if (!call.end()) {
            return null;
        }
        Thread.interrupted(); // The flag is that of this guard, or also that of an outer one.
        for (Limited outer = call.outer; outer != null; outer = outer.outer) {
            if (outer.isLate()) {
                outer.thread.interrupt();
            }
        }
        return new TimeLimitExceededException("the call did not end within " + limit, true);
    }
}
