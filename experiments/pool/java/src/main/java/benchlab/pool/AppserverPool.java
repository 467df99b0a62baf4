// SPDX-License-Identifier: Apache-2.0
// The pool of appserver/java.
package benchlab.pool;

import benchlab.appserver.pool.Lease;
import benchlab.appserver.pool.Pool;
import benchlab.appserver.pool.PoolOptions;

final class AppserverPool implements ResourcePool {

    private final Pool<Resource> pool;

    AppserverPool(int size, Reuse reuse) {
        PoolOptions<Resource> usual = PoolOptions.of(Resource::new);
        pool =
                new Pool<>(
                        size,
                        switch (reuse) {
                            case DEFAULT -> usual;
                            case LIFO -> usual.order(PoolOptions.RequestOrder.LIFO);
                            case FIFO -> usual.order(PoolOptions.RequestOrder.ROUND_ROBIN);
                        });
    }

    @Override
    public long use(Holder holder, long k) throws Exception {
        try (Lease<Resource> lease = pool.lease()) {
            return holder.hold(lease.resource(), k);
        }
    }

    @Override
    public void leaseAndRelease() throws InterruptedException {
        pool.lease().close();
    }

    @Override
    public int inUse() {
        return pool.statistics().inUse();
    }

    @Override
    public void close() {
        pool.close();
    }
}
