// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A resource in a pool, and its state. A slot is idle, leased to one holder, or owned by one
 * thread. The owner creates, validates, resets or destroys the resource, or has waited for it and
 * been served. Only the holder or owner accesses the resource. A thread becomes the owner by an
 * atomic change of the state from idle or leased, so there is never a second owner.
 */
final class Slot<R> extends Padding {

    /** An object that is reachable only from the open lease. */
    static final class Token {}

    // The state is 4 times the number of leases so far, plus one of these constants.
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

    /** Null while the slot is leased. */
    private @Nullable Token token;

    /** Must be reachable so that the collector can report that the token is not. */
    @SuppressWarnings("unused")
    private final LeakedLease lost;

    private long used; // ns; written only by the owner, read by all threads
    private long since; // ns; start of the current lease

    /** Creates a slot that is owned by the current thread. */
    Slot(Pool<R> pool, R resource) {
        this.pool = pool;
        this.resource = resource;
        var first = new Token();
        token = first;
        lost = new LeakedLease(first, this);
    }

    /** Makes the caller the owner if the slot is idle. */
    boolean take() {
        long now = state;
        return (now & KIND) == IDLE && STATE.compareAndSet(this, now, now + OWNED);
    }

    /** Leases the slot. The caller must be the owner. */
    Lease<R> lease() {
        long leased = (state | KIND) + 1 + LEASED;
        var lease = new Lease<>(this, token, leased);
        token = null;
        STATE.setRelease(this, leased);
        return lease;
    }

    /** Returns true if the lease that began with state {@code leased} has not ended. */
    boolean isLeased(long leased) {
        return state == leased;
    }

    boolean isLeased() {
        return (state & KIND) == LEASED;
    }

    /** Ends a lease and makes the slot idle; returns false if the lease has already ended. */
    boolean free(long leased, @Nullable Token back) {
        token = back;
        return STATE.compareAndSet(this, leased, leased - LEASED + IDLE);
    }

    /**
     * Ends a lease and makes the caller the owner; returns false if the lease has already ended.
     */
    boolean takeFrom(long leased, @Nullable Token back) {
        token = back;
        return STATE.compareAndSet(this, leased, leased - LEASED + OWNED);
    }

    /** Ends a leaked lease and makes the caller the owner. */
    boolean takeLost() {
        long now = state;
        return (now & KIND) == LEASED && takeFrom(now, null);
    }

    /** Makes the slot idle. The caller must be the owner. */
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
