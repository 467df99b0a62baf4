// SPDX-License-Identifier: Apache-2.0
// A resource that lives in a pool, and who has it.
package benchlab.appserver.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * At any time idle, leased to one holder, or owned by one thread: one that makes, checks, resets or
 * destroys it, or one that waits and is given it. Only its holder or owner touches the resource.
 * Whoever becomes owner does so by an atomic change of the state from idle or leased, so that there
 * is never a second one.
 */
final class Slot<R> extends Padding {

    /** An object that only the open lease keeps alive. */
    static final class Token {}

    // The state is 4 times the number of leases there were, and one of these.
    private static final long IDLE = 0;
    private static final long OWNED = 1;
    private static final long LEASED = 2;
    private static final long KIND = 3;

    private static final VarHandle STATE;
    private static final VarHandle USED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(Slot.class, "state", long.class);
            USED = lookup.findVarHandle(Slot.class, "used", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Pool<R> pool;
    final R resource;

    private volatile long state = OWNED;

    /** Null while it is leased. */
    private Token token = new Token();

    /** Has to be reachable for the collector to report that the token is not. */
    @SuppressWarnings("unused")
    private final LeakedLease lost;

    private long used; // ns, written by the owner alone, read by anyone
    private long since; // ns, of the present lease

    /** Owned by the thread that makes it. */
    Slot(Pool<R> pool, R resource) {
        this.pool = pool;
        this.resource = resource;
        lost = new LeakedLease(token, this);
    }

    /** Makes the caller the owner if the slot is idle. */
    boolean take() {
        long now = state;
        return (now & KIND) == IDLE && STATE.compareAndSet(this, now, now + OWNED);
    }

    /** The owner gives it to a holder. */
    Lease<R> lease() {
        long leased = (state | KIND) + 1 + LEASED;
        var lease = new Lease<>(this, token, leased);
        token = null;
        STATE.setRelease(this, leased);
        return lease;
    }

    /** True if the lease that began with {@code leased} has not ended. */
    boolean isLeased(long leased) {
        return state == leased;
    }

    boolean isLeased() {
        return (state & KIND) == LEASED;
    }

    /** Ends a lease and makes the slot idle; false if it has ended before. */
    boolean free(long leased, Token back) {
        token = back;
        return STATE.compareAndSet(this, leased, leased - LEASED + IDLE);
    }

    /** Ends a lease and makes the caller the owner; false if it has ended before. */
    boolean takeFrom(long leased, Token back) {
        token = back;
        return STATE.compareAndSet(this, leased, leased - LEASED + OWNED);
    }

    /** Ends the lease that was lost and makes the caller the owner. */
    boolean takeLost() {
        long now = state;
        return (now & KIND) == LEASED && takeFrom(now, null);
    }

    /** The owner makes it idle. */
    void free() {
        state = (state & ~KIND) + IDLE;
    }

    void startTimer() {
        since = System.nanoTime();
    }

    void stopTimer() {
        USED.setOpaque(this, used + System.nanoTime() - since);
    }

    long leases() {
        return state / (KIND + 1);
    }

    long used() {
        return (long) USED.getOpaque(this);
    }
}
