// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

/**
 * Thrown if the pool was closed before a lease could be granted, possibly while the caller waited
 * for the lease.
 */
public final class PoolClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    PoolClosedException() {
        super("the pool is closed");
    }
}
