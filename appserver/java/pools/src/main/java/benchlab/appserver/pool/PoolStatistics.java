// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import java.time.Duration;

/**
 * Statistics of a pool. Totals are counted since the pool's creation. The values are read while
 * threads continue to lease, so a lease that begins or ends meanwhile may be included in only some
 * of the values.
 *
 * @param capacity the maximum number of resources
 * @param size the number of resources, including those being created
 * @param inUse the number of leased resources
 * @param waiting the number of threads that wait for a lease
 * @param maxSize the maximum size so far. Without {@link PoolOptions#minIdle} and {@link
 *     PoolOptions#keepAlive}, a resource is created only if none is idle, so this is also the
 *     maximum number of concurrent requests, up to the capacity
 * @param leases the total number of leases, including the lease that {@link Pool#start} takes
 * @param waits the number of calls that had to wait, whether or not they got a lease
 * @param waitingTime the total waiting time of calls that got a lease, without the time to wake up
 * @param maxWait the maximum waiting time of a call that got a lease
 * @param timeouts the number of calls that timed out waiting for other threads or for the factory
 * @param made the number of resources that the factory created
 * @param creationTime the total time that the factory took to create resources
 * @param maxCreationTime the maximum time that the factory took to create one resource
 * @param factoryFailures the number of failures of the factory
 * @param broken the number of resources that were destroyed because they were invalid, could not be
 *     reset or were marked as broken
 * @param reclaimed the number of leaked leases, whose resources were destroyed
 * @param expired the number of resources that were destroyed at the end of their {@link
 *     PoolOptions#maxLifetime}
 * @param timedOut the number of resources that were destroyed after {@link PoolOptions#idleTimeout}
 * @param evicted the number of resources that were destroyed because of {@link Pool#softEvict}
 * @param keepAlives the number of checks of idle resources because of {@link PoolOptions#keepAlive}
 * @param leaks the number of leases that were reported because of {@link PoolOptions#leakThreshold}
 * @param holdTime the total time that closed leases were held; zero unless {@link
 *     PoolOptions#recordHoldTime} is set
 */
public record PoolStatistics(
        int capacity,
        int size,
        int inUse,
        int waiting,
        int maxSize,
        long leases,
        long waits,
        Duration waitingTime,
        Duration maxWait,
        long timeouts,
        long made,
        Duration creationTime,
        Duration maxCreationTime,
        long factoryFailures,
        long broken,
        long reclaimed,
        long expired,
        long timedOut,
        long evicted,
        long keepAlives,
        long leaks,
        Duration holdTime) {

    /**
     * Returns the number of resources that are neither leased nor destroyed: idle resources, and
     * resources for which a hook is running.
     *
     * @return the number of resources
     */
    public int idle() {
        return Math.max(0, size - inUse);
    }
}
