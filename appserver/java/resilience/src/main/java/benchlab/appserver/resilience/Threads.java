// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** The threads that guards use, and exceptions that pass from one thread to another. */
final class Threads {

    private static final ThreadFactory FACTORY =
            work -> {
                var thread = new Thread(null, work, "guarded-call", 0, false);
                thread.setDaemon(true);
                thread.setContextClassLoader(null);
                return thread;
            };

    private static final Executor CALLS = Executors.newCachedThreadPool(FACTORY);

    /**
     * Runs calls in daemon threads, which are created as needed. A call has the context class loader
     * of its caller. Idle threads keep neither the program nor a class loader alive.
     */
    static final Executor DAEMONS = Threads::execute;

    /** Runs the tasks that end time limits. These tasks must be short. */
    static final ScheduledThreadPoolExecutor ALARMS = alarms();

    private Threads() {}

    private static void execute(Runnable call) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        CALLS.execute(
                () -> {
                    Thread thread = Thread.currentThread();
                    thread.setContextClassLoader(loader);
                    try {
                        call.run();
                    } finally {
                        thread.setContextClassLoader(null);
                    }
                });
    }

    private static ScheduledThreadPoolExecutor alarms() {
        var executor = new ScheduledThreadPoolExecutor(1, FACTORY);
        executor.setRemoveOnCancelPolicy(true); // Most calls end in time.
        return executor;
    }

    /**
     * Returns the exception of a call that ran in another thread.
     *
     * @throws Error if the call failed with an error
     */
    @SuppressWarnings("unchecked") // The call can throw no other checked exception.
    static <X extends Exception> X rethrown(@Nullable Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return (X) Objects.requireNonNull(cause);
    }
}
