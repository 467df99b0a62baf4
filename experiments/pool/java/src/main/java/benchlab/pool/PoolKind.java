// SPDX-License-Identifier: Apache-2.0
// The pools that are compared.
package benchlab.pool;

import benchlab.kit.Refusal;
import benchlab.pool.ResourcePool.Reuse;
import com.zaxxer.hikari.util.ConcurrentBag;
import org.apache.commons.pool2.impl.GenericObjectPool;

enum PoolKind {
    APPSERVER("benchlab.appserver.pool 1") {
        @Override
        ResourcePool make(int size, Reuse reuse) {
            return new AppserverPool(size, reuse);
        }
    },
    /** HikariCP's bag, which prefers the resource that the thread used last. */
    HIKARI("HikariCP's ConcurrentBag " + Versions.of(ConcurrentBag.class, "HikariCP")) {
        @Override
        ResourcePool make(int size, Reuse reuse) throws Refusal {
            if (reuse == Reuse.FIFO) {
                throw Refusal.unsupported("unsupported reuse fifo");
            }
            return new HikariPool(size);
        }
    },
    COMMONS("commons-pool2 " + Versions.of(GenericObjectPool.class, "commons-pool2")) {
        @Override
        ResourcePool make(int size, Reuse reuse) throws Exception {
            return new CommonsPool(size, reuse);
        }
    };

    private final String library;

    PoolKind(String library) {
        this.library = library;
    }

    String library() {
        return library;
    }

    abstract ResourcePool make(int size, Reuse reuse) throws Exception;
}
