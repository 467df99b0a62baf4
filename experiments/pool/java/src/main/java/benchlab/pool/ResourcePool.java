// SPDX-License-Identifier: Apache-2.0
// A pool, as all of them are used.
package benchlab.pool;

/** Each leases and gives back in its own way. */
interface ResourcePool extends AutoCloseable {

    /** The order in which idle resources are leased. */
    enum Reuse {
        /** The pool's default. */
        USUAL,
        /** The one given back last. */
        LIFO,
        /** The one that is idle for the longest time. */
        FIFO
    }

    /**
     * Waits for a resource, lets the holder work with it, and gives it back, also if the holder
     * fails. Returns what the holder does.
     */
    long use(Holder holder, long k) throws Exception;

    /** A lease that is given back at once. */
    void leaseAndRelease() throws Exception;

    /** How many are leased. */
    int inUse();

    @Override
    void close() throws Exception;
}
