// SPDX-License-Identifier: Apache-2.0
// What a pool tells of itself.
package benchlab.appserver.pool;

import java.time.Duration;

/**
 * Figures of a pool. Totals count from its start. They are read without stopping anybody, so that
 * those of leases that begin or end meanwhile may be in one figure and not in another.
 *
 * @param capacity how many resources there may be
 * @param size how many there are, those being made included
 * @param inUse how many are leased
 * @param waiting how many threads wait for a lease
 * @param maxSize the most there ever were. One is made only if none is idle, so that it is also
 *     the most that were ever wanted at once, up to the capacity
 * @param leases how many leases were given
 * @param waits how many callers had to wait, whether they got a lease or not
 * @param waitingTime how long those who got one waited, all together; until they were served,
 *     without the time to wake up
 * @param maxWait the longest of these
 * @param timeouts how many waited in vain, for others or for the factory
 * @param made how many resources the factory made
 * @param factoryFailures how often it failed
 * @param broken how many resources were destroyed because they were not valid, could not be reset
 *     or were said to be broken
 * @param reclaimed how many leases were lost, so that their resources were destroyed
 * @param holdTime how long closed leases were held, all together; zero unless the options say {@link
 *     PoolOptions#recordHoldTime}
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
        long factoryFailures,
        long broken,
        long reclaimed,
        Duration holdTime) {

    /** Resources that are neither leased nor destroyed: idle, or in a hook. */
    public int idle() {
        return Math.max(0, size - inUse);
    }
}
