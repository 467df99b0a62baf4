// SPDX-License-Identifier: Apache-2.0
// The right to use a resource of a pool until it is given back.
package benchlab.appserver.pool;

/**
 * The right to use one resource of a {@link Pool} alone, from when the pool gave it until {@link
 * #close}. Hold it in a try-with-resources statement.
 *
 * <p>A lease may be handed to another thread and closed there. What a holder did to the resource
 * before it closed its lease is visible to the next holder.
 *
 * <p>A lease that is lost (unreachable and not closed) is found by the collector: the pool then
 * destroys the resource, since the holder may still have it, and gives its place to another. So
 * keep the lease for as long as the resource is in use.
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
     * The resource.
     *
     * @throws IllegalStateException if the lease was closed
     */
    public R resource() {
        if (!slot.isLeased(leased)) {
            throw new IllegalStateException("the lease was closed, its resource given back");
        }
        return slot.resource;
    }

    /**
     * Says that the resource is broken: {@link #close} then destroys it, and the pool does not give
     * it to anyone again.
     *
     * @throws IllegalStateException if the lease was closed
     */
    public void markBroken() {
        resource(); // Throws if it was closed.
        isBroken = true;
    }

    /**
     * Gives the resource back, after the pool's hook has reset it. What the hooks throw is logged
     * here, and is not thrown.
     *
     * @throws IllegalStateException if the lease was closed before: closing it twice is a mistake
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
