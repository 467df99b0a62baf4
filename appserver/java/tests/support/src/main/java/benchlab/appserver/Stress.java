// SPDX-License-Identifier: Apache-2.0
// The duration of stress tests, and threads that start at the same time.
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
 * Runs stress tests. The system property {@code stress} is the time for each package: {@code 90s},
 * {@code 10m}, {@code 1h}.
 */
public final class Stress {

    private static final Duration DEFAULT = Duration.ofMillis(1200);

    private Stress() {}

    /** Returns the time for one of {@code parts} equal sections of a package's stress tests. */
    public static Duration part(int parts) {
        return blockTime().dividedBy(parts);
    }

    private static Duration blockTime() {
        String property = System.getProperty("stress");
        return property == null ? DEFAULT : Duration.parse("PT" + property);
    }

    /** A deadline, compared with {@code System.nanoTime()}. */
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
     * Runs each task on its own thread, all starting from one barrier, and returns their results. A
     * task counts as hung if it is still running five minutes after the time for all stress tests
     * of its package has passed.
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
                                    barrier.await(120, TimeUnit.SECONDS);
                                    return task.call();
                                }));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : futures) {
                results.add(future.get(blockTime().toSeconds() + 300, TimeUnit.SECONDS));
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
