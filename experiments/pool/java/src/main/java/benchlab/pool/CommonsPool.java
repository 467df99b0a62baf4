// SPDX-License-Identifier: Apache-2.0
// Apache Commons Pool.
package benchlab.pool;

import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;

final class CommonsPool implements ResourcePool {

    private final GenericObjectPool<Resource> pool;

    CommonsPool(int size, Reuse reuse) throws Exception {
        var options = new GenericObjectPoolConfig<Resource>();
        options.setJmxEnabled(false);
        options.setMaxTotal(size);
        options.setMaxIdle(size);
        options.setMinIdle(size);
        options.setLifo(reuse != Reuse.FIFO); // LIFO is the default.
        pool = new GenericObjectPool<>(new Factory(), options);
        pool.preparePool();
    }

    private static final class Factory extends BasePooledObjectFactory<Resource> {
        @Override
        public Resource create() {
            return new Resource();
        }

        @Override
        public PooledObject<Resource> wrap(Resource resource) {
            return new DefaultPooledObject<>(resource);
        }
    }

    @Override
    public long use(Holder holder, long k) throws Exception {
        Resource resource = pool.borrowObject();
        try {
            return holder.hold(resource, k);
        } finally {
            pool.returnObject(resource);
        }
    }

    @Override
    public void leaseAndRelease() throws Exception {
        pool.returnObject(pool.borrowObject());
    }

    @Override
    public int inUse() {
        return pool.getNumActive();
    }

    @Override
    public void close() {
        pool.close();
    }
}
