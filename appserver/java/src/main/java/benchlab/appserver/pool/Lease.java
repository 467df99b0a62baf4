// SPDX-License-Identifier: Apache-2.0
// The right to use a resource of a pool until it is returned.
package benchlab.appserver.pool;

/**
 * The exclusive right to use one resource of a {@link Pool} until {@link #close}. Hold it in a
 * try-with-resources statement.
 *
 * <p>A lease may be passed to another thread and closed there. Changes that a holder made to the
 * resource before it closed its lease are visible to the next holder.
 *
 * <p>The garbage collector finds a leaked lease, which is unreachable and not closed. The pool then
 * destroys the resource, since the holder may still have it, and may create another one. So keep
 * the lease for as long as the resource is in use.
 *
 * @param <R> the type of the resource
 */
public final class Lease<R> implements AutoCloseable {

    private final Slot<R> slot;
    private final long leased; // The slot's state during this lease, and during no other.
    private Slot.Token token;
    private boolean isBroken;

    Lease(Slot<R> slot, Slot.Token token, long leased) {
        this.slot = slot;
        this.token = token;
        this.leased = leased;
    }

    /**
     * The leased resource.
     *
     * @return the resource
     * @throws IllegalStateException if the lease was closed
     */
    public R resource() {
        if (!slot.isLeased(leased)) {
            throw new IllegalStateException("the lease was closed, its resource given back");
        }
        return slot.resource;
    }

    /**
     * Marks the resource as broken: {@link #close} then destroys it.
     *
     * @throws IllegalStateException if the lease was closed
     */
    public void markBroken() {
        resource(); // Throws if it was closed.
        isBroken = true;
    }

    /**
     * Returns the resource, after the pool's hook has reset it. Exceptions of hooks are logged, and
     * not thrown.
     *
     * @throws IllegalStateException if the lease was closed before
     */
    @Override
    public void close() {
        Slot.Token back = token;
        token = null; // Whoever keeps a closed lease must not keep the token from being lost.
        if (back == null || !slot.pool.takeBack(slot, leased, back, isBroken)) {
            throw new IllegalStateException("the lease was closed before");
        }
    }
}
