// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits the number of concurrent calls, so that a slow service does not occupy all threads. A call
 * has one of {@code maxCalls} permits from its start to its end. Callers wait for a permit in the
 * order in which they arrive, for up to {@code maxWait}; then, or if their thread is interrupted,
 * they get a {@link BulkheadFullException}. An interrupted thread keeps its flag.
 */
public final class Bulkhead implements Guard {

    private final int maxCalls;
    private final Duration maxWait;
    private final Semaphore permits;

    /**
     * Creates a bulkhead.
     *
     * @param maxCalls the maximum number of concurrent calls, at least 1
     * @param maxWait the maximum time to wait for a permit; zero to fail immediately
     */
    public Bulkhead(int maxCalls, Duration maxWait) {
        if (maxCalls < 1) {
            throw new IllegalArgumentException("maxCalls must be at least 1: " + maxCalls);
        } else if (maxWait.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative: " + maxWait);
        }
        maxWait.toNanos(); // Throws if it exceeds 292 years.
        this.maxCalls = maxCalls;
        this.maxWait = maxWait;
        permits = new Semaphore(maxCalls, true);
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T call(Work<T, X> work) throws X {
        enter();
        try {
            return work.run();
        } finally {
            permits.release();
        }
    }

    private void enter() {
        try {
            // Unlike tryAcquire without a time, this one does not overtake waiting callers.
            if (!permits.tryAcquire(maxWait.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new BulkheadFullException(
                        "no permit was free within " + maxWait + " (maxCalls: " + maxCalls + ")");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BulkheadFullException("interrupted while waiting for a permit");
        }
    }

    /**
     * Returns the number of calls that are running.
     *
     * @return the number of calls
     */
    public int running() {
        return maxCalls - permits.availablePermits();
    }

    /**
     * Returns an estimate of the number of waiting callers.
     *
     * @return the number of callers
     */
    public int waiting() {
        return permits.getQueueLength();
    }
}
