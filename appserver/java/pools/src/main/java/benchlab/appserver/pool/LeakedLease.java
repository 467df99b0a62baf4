// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/**
 * Finds leaked leases. The garbage collector enqueues this reference once both the lease and the
 * token of its slot are unreachable.
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
                // Out of memory, or the logger failed. The next lost lease is reclaimed
                // nevertheless.
            }
        }
    }

    private static <R> void reclaim(Slot<R> slot) {
        if (slot.takeLost()) {
            slot.pool.reclaim(slot);
        }
    }
}
