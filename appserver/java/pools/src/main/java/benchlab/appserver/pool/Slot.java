// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A resource in a pool, and its state. A slot is idle, leased to one holder, or owned by one
 * thread. The owner creates, validates, resets or destroys the resource, or has just received it
 * after waiting. Only the holder or owner accesses the resource. A thread becomes the owner by an
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

    /** The token of the next lease; null while the slot is leased. */
    private @Nullable Token token;

    /**
     * The reference that detects a leaked lease. Kept reachable, because the garbage collector
     * enqueues only reachable references.
     */
    @SuppressWarnings("unused")
    private final LeakedLease lost;

    private long used; // ns; written only by the owner, read by all threads
    private long since; // ns; start of the current lease

    private final int generation;
    private final long created = System.nanoTime();
    private final long lifetime; // ns

    /**
     * The origin of the current lease; null if the slot is not leased or leases do not record their
     * origin.
     */
    private volatile @Nullable LeaseOrigin origin;

    // Written by the pool's visits, and read by them and the checks that they start.
    private volatile long observed = -1; // the state at the last visit, if the slot was idle
    private long idleSince; // ns; the first visit with that state
    private volatile long checked = created; // ns; the last check without a lease

    /**
     * Creates a slot that is owned by the current thread.
     *
     * @param generation the pool's generation before the resource was created
     * @param lifetime the resource's lifetime in ns; {@code Long.MAX_VALUE} if it is unlimited
     */
    Slot(Pool<R> pool, R resource, int generation, long lifetime) {
        this.pool = pool;
        this.resource = resource;
        this.generation = generation;
        this.lifetime = lifetime;
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

    boolean isIdle() {
        return (state & KIND) == IDLE;
    }

    boolean isOlderThan(int current) {
        return generation != current;
    }

    boolean isExpired() {
        return lifetime != Long.MAX_VALUE && System.nanoTime() - created >= lifetime;
    }

    @Nullable LeaseOrigin origin() {
        return origin;
    }

    void setOrigin(@Nullable LeaseOrigin taken) {
        origin = taken;
    }

    /**
     * Returns the time in ns since the first visit after the last use; -1 if the slot is not idle.
     * A check for {@code keepAlive} does not count as a use.
     */
    long observeIdleTime(long now) {
        long current = state;
        switch ((int) (current & KIND)) {
            case (int) IDLE -> {
                if (current != observed) {
                    observed = current;
                    idleSince = now;
                }
                return now - idleSince;
            }
            case (int) LEASED -> observed = -1;
            default -> {}
        }
        return -1;
    }

    /**
     * Returns the time in ns since the last use or check; -1 if the slot was not idle at the last
     * visit.
     */
    long uncheckedTime(long now) {
        return observed < 0 ? -1 : Math.min(now - idleSince, now - checked);
    }

    void setChecked(long now) {
        checked = now;
    }

    /** Makes the caller the owner if the slot has been idle since the last visit. */
    boolean takeObserved() {
        long idle = observed;
        return idle >= 0 && STATE.compareAndSet(this, idle, idle + OWNED);
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
