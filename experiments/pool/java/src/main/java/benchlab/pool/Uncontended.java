// SPDX-License-Identifier: Apache-2.0
// The case uncontended: one thread leases and returns resources.
package benchlab.pool;

import benchlab.kit.Case;
import benchlab.kit.Result;

record Uncontended(ResourcePool pool) implements Case {

    @Override
    public Result perform(long operations) throws Exception {
        for (long k = 0; k < operations; k++) {
            pool.leaseAndRelease();
        }
        return new Result(operations, operations);
    }

    @Override
    public void close() throws Exception {
        pool.close();
    }
}
