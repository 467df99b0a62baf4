// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import java.time.Duration;

/**
 * The stack trace of the call that took a lease. Recorded only with {@link
 * PoolOptions#leakThreshold}.
 */
final class LeaseOrigin extends Throwable {
    private static final long serialVersionUID = 1;

    private final String thread = Thread.currentThread().getName();
    private final long since = System.nanoTime();

    /** True once the lease was reported. Accessed only by the pool's maintenance. */
    boolean isReported;

    LeaseOrigin() {
        super("the lease was taken here");
    }

    long heldNanos() {
        return System.nanoTime() - since;
    }

    LeakReport report() {
        return new LeakReport(thread, Duration.ofNanos(heldNanos()), this);
    }
}
