// SPDX-License-Identifier: Apache-2.0
// shared: as pooled, with n concurrent threads.
package benchlab.sql;

import benchlab.kit.Case;
import benchlab.kit.Result;
import benchlab.kit.Workers;
import java.util.Collections;
import java.util.Map;

final class Shared implements Case {

    private final ConnectionPool pool;
    private final Workers workers;

    Shared(ConnectionPool pool, int threads) {
        this.pool = pool;
        workers = new Workers(Collections.nCopies(threads, k -> pool.request()));
    }

    @Override
    public Map<String, String> settings() throws Exception {
        return pool.settings();
    }

    @Override
    public Result perform(long operations) throws Exception {
        return workers.perform(operations);
    }

    @Override
    public void close() throws Exception {
        workers.close();
        pool.close();
    }
}
