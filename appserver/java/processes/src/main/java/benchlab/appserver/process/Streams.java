// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/**
 * Background threads that start programs and read and write pipes: one for each process and each
 * pipe in use. Idle threads exit after a minute.
 */
final class Streams {

    private static final ExecutorService THREADS =
            Executors.newCachedThreadPool(
                    work -> {
                        var thread = new Thread(null, work, "process-stream", 0, false);
                        thread.setDaemon(true);
                        thread.setContextClassLoader(null);
                        return thread;
                    });

    private Streams() {}

    static <T> Future<T> start(Callable<T> work) {
        var task = new FutureTask<>(work);
        run(task);
        return task;
    }

    /** Runs work with the context class loader of the thread that calls this method. */
    static void run(Runnable work) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        THREADS.execute(
                () -> {
                    Thread thread = Thread.currentThread();
                    thread.setContextClassLoader(loader);
                    try {
                        work.run();
                    } finally {
                        thread.setContextClassLoader(null);
                    }
                });
    }
}
