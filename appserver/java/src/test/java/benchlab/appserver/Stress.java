// SPDX-License-Identifier: Apache-2.0
// How long stress tests run, and threads that start all at once.
package benchlab.appserver;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The system property {@code stress} is the time for each block: {@code 90s}, {@code 10m}, {@code
 * 1h}.
 */
public final class Stress {

    private static final Duration DEFAULT = Duration.ofMillis(1200);

    private Stress() {}

    /** What one of {@code parts} equal parts of a block's stress tests may take. */
    public static Duration part(int parts) {
        return blockTime().dividedBy(parts);
    }

    private static Duration blockTime() {
        String property = System.getProperty("stress");
        return property == null ? DEFAULT : Duration.parse("PT" + property);
    }

    /** True if a time is up: {@code System.nanoTime()} is compared with the end. */
    public static final class Deadline {
        private final long end;

        public Deadline(Duration time) {
            end = System.nanoTime() + time.toNanos();
        }

        public boolean passed() {
            return System.nanoTime() - end >= 0;
        }
    }

    /**
     * Runs each task on a thread of its own, all from one barrier on, and returns what they return.
     * A task that has not ended a minute after all stress tests of its block should have hangs.
     */
    public static <T> List<T> together(List<Callable<T>> tasks) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
        try {
            var barrier = new CyclicBarrier(tasks.size());
            List<Future<T>> futures = new ArrayList<>();
            for (Callable<T> task : tasks) {
                futures.add(
                        threads.submit(
                                () -> {
                                    barrier.await(20, TimeUnit.SECONDS);
                                    return task.call();
                                }));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : futures) {
                results.add(future.get(blockTime().toSeconds() + 60, TimeUnit.SECONDS));
            }
            return results;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            } else {
                throw (Error) e.getCause();
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
