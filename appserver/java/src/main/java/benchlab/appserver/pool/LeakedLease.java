// SPDX-License-Identifier: Apache-2.0
// Finds leases that nobody has any more and nobody has closed.
package benchlab.appserver.pool;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/**
 * Enqueued by the collector when the token of a slot was lost together with the lease that had it.
 */
final class LeakedLease extends WeakReference<Slot.Token> {

    private static final ReferenceQueue<Slot.Token> LOST = new ReferenceQueue<>();

    static {
        var reclaimer = new Thread(null, LeakedLease::reclaimAll, "pool-reclaimer", 0, false);
        reclaimer.setDaemon(true);
        reclaimer.setContextClassLoader(null);
        reclaimer.start();
    }

    private final Slot<?> slot;

    LeakedLease(Slot.Token token, Slot<?> slot) {
        super(token, LOST);
        this.slot = slot;
    }

    private static void reclaimAll() {
        while (true) {
            try {
                reclaim(((LeakedLease) LOST.remove()).slot);
            } catch (Throwable e) {
                // No memory, or a logger that fails: the next lost lease is reclaimed all the same.
            }
        }
    }

    private static <R> void reclaim(Slot<R> slot) {
        if (slot.takeLost()) {
            slot.pool.reclaim(slot);
        }
    }
}
