// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import org.jspecify.annotations.Nullable;

/**
 * The exclusive right to use one resource of a {@link Pool} until {@link #close}. Use a
 * try-with-resources statement.
 *
 * <p>A lease may be passed to another thread and closed there. Changes that a holder made to the
 * resource before closing its lease are visible to the next holder.
 *
 * <p>The garbage collector detects a leaked lease, which is unreachable but was not closed. The
 * pool then destroys the resource, because the holder may still use it, and may create a
 * replacement. Keep a reference to the lease as long as the resource is in use.
 *
 * @param <R> the type of the resource
 */
public final class Lease<R> implements AutoCloseable {

    private final Slot<R> slot;
    private final long leased; // The slot's state, unique to this lease.
    private Slot.@Nullable Token token;
    private boolean isBroken;

    Lease(Slot<R> slot, Slot.@Nullable Token token, long leased) {
        this.slot = slot;
        this.token = token;
        this.leased = leased;
    }

    /**
     * Returns the leased resource.
     *
     * @return the resource
     * @throws IllegalStateException if the lease was closed
     */
    public R resource() {
        if (!slot.isLeased(leased)) {
            throw new IllegalStateException("the lease is closed; its resource was returned to the pool");
        }
        return slot.resource;
    }

    /**
     * Marks the resource as broken: {@link #close} then destroys it.
     *
     * @throws IllegalStateException if the lease was closed
     */
    public void markBroken() {
        resource(); // Throws if the lease was closed.
        isBroken = true;
    }

    /**
     * Returns the resource to the pool, after the pool's hook has reset it. Exceptions of hooks are
     * logged and not thrown.
     *
     * @throws IllegalStateException if the lease was already closed
     */
    @Override
    public void close() {
        Slot.Token back = token;
        token = null; // A reference to a closed lease must not keep the token reachable.
        if (back == null || !slot.pool.takeBack(slot, leased, back, isBroken)) {
            throw new IllegalStateException("the lease is already closed");
        }
    }
}
