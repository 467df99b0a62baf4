// SPDX-License-Identifier: Apache-2.0
// The ConcurrentBag in which HikariCP, a connection pool, stores its connections.
package benchlab.pool;

import com.zaxxer.hikari.util.ConcurrentBag;
import com.zaxxer.hikari.util.ConcurrentBag.IConcurrentBagEntry;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

final class HikariPool implements ResourcePool {

    private static final int TIMEOUT_S = 60;

    private static final class Entry extends AtomicInteger implements IConcurrentBagEntry {
        private static final long serialVersionUID = 1;

        private final transient Resource resource = new Resource();

        @Override
        public void setState(int state) {
            set(state);
        }

        @Override
        public int getState() {
            return get();
        }
    }

    /**
     * HikariCP's bag of entries. All entries are added at the start, so waiting threads do not
     * create more.
     */
    private final ConcurrentBag<Entry> bag = new ConcurrentBag<>(waiting -> {});

    HikariPool(int size) {
        for (int i = 0; i < size; i++) {
            bag.add(new Entry());
        }
    }

    @Override
    public long use(Holder holder, long k) throws Exception {
        Entry entry = borrow();
        try {
            return holder.hold(entry.resource, k);
        } finally {
            bag.requite(entry);
        }
    }

    @Override
    public void leaseAndRelease() throws Exception {
        bag.requite(borrow());
    }

    private Entry borrow() throws InterruptedException, TimeoutException {
        Entry entry = bag.borrow(TIMEOUT_S, TimeUnit.SECONDS);
        if (entry == null) {
            throw new TimeoutException("no lease within " + TIMEOUT_S + " s");
        }
        return entry;
    }

    @Override
    public int inUse() {
        return bag.getCount(IConcurrentBagEntry.STATE_IN_USE);
    }

    @Override
    public void close() {
        bag.close();
    }
}
