// SPDX-License-Identifier: Apache-2.0
// The threads that read and write pipes beside those of the program that uses them.
package benchlab.appserver.process;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A thread for each pipe in use; idle threads end after a minute. */
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
        return THREADS.submit(work);
    }
}
