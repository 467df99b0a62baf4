// SPDX-License-Identifier: Apache-2.0
// A lease was asked of a pool that is closed.
package benchlab.appserver.pool;

/** The pool was closed before a lease could be given, perhaps while the caller waited for it. */
public final class PoolClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    PoolClosedException() {
        super("the pool is closed");
    }
}
