// SPDX-License-Identifier: Apache-2.0
package benchlab.pool;

/** The common interface of the pools, which have different methods of leasing and returning. */
interface ResourcePool extends AutoCloseable {

    /** The order in which idle resources are leased. */
    enum Reuse {
        /** The default order of the pool. */
        DEFAULT,
        /** The most recently returned resource. */
        LIFO,
        /** The resource that has been idle longest. */
        FIFO
    }

    /**
     * Waits for a resource, lets the holder use it, and returns the resource even if the holder
     * fails. Returns the result of the holder.
     */
    long use(Holder holder, long k) throws Exception;

    /** Leases a resource and returns it immediately. */
    void leaseAndRelease() throws Exception;

    /** Returns the number of leased resources. */
    int inUse();

    @Override
    void close() throws Exception;
}
