// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The regular maintenance of a pool whose options require it. One thread visits all such pools. It
 * runs none of their hooks. The visits do not keep a pool reachable.
 */
final class Maintenance implements Runnable {

    private static final long MIN_PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long MAX_PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** The number of visits within the shortest time that the options specify. */
    private static final int VISITS = 16;

    private static final ScheduledThreadPoolExecutor TIMER = timer();

    private final WeakReference<Pool<?>> pool;
    private volatile @Nullable ScheduledFuture<?> visits;

    private Maintenance(Pool<?> pool) {
        this.pool = new WeakReference<>(pool);
    }

    /** Starts the visits of a pool, which end when it is closed or unreachable. */
    static void start(Pool<?> pool, PoolOptions<?> options) {
        long period = period(options);
        if (period > 0) {
            var maintenance = new Maintenance(pool);
            maintenance.visits =
                    TIMER.scheduleWithFixedDelay(maintenance, 0, period, TimeUnit.NANOSECONDS);
        }
    }

    /** Returns the time between two visits in nanoseconds; 0 if the options require none. */
    private static long period(PoolOptions<?> options) {
        long shortest =
                Arrays.asList(
                                options.idleTimeout,
                                options.maxLifetime,
                                options.keepAlive,
                                options.leakThreshold)
                        .stream()
                        .filter(Objects::nonNull)
                        .mapToLong(Duration::toNanos)
                        .min()
                        .orElse(options.minIdle == 0 ? 0 : Long.MAX_VALUE);
        return shortest == 0
                ? 0
                : Math.min(MAX_PERIOD_NANOS, Math.max(MIN_PERIOD_NANOS, shortest / VISITS));
    }

    @Override
    public void run() {
        Pool<?> visited = pool.get();
        if (visited != null && !visited.isClosed()) {
            visited.visit();
        } else {
            ScheduledFuture<?> self = visits;
            if (self != null) { // Otherwise the next run ends the visits.
                self.cancel(false);
            }
        }
    }

    private static ScheduledThreadPoolExecutor timer() {
        var timer =
                new ScheduledThreadPoolExecutor(
                        1,
                        work -> {
                            var thread = new Thread(null, work, "pool-maintenance", 0, false);
                            thread.setDaemon(true);
                            thread.setContextClassLoader(null);
                            return thread;
                        });
        timer.setRemoveOnCancelPolicy(true);
        return timer;
    }
}
