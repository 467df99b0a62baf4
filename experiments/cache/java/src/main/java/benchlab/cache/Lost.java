// SPDX-License-Identifier: Apache-2.0
// The case lost: threads put 1,000 new keys into a map with 1,000 entries.
package benchlab.cache;

import benchlab.kit.Case;
import benchlab.kit.Refusal;
import benchlab.kit.Result;
import benchlab.kit.Workers;
import benchlab.kit.Workers.Share;
import benchlab.kit.Workers.ShareWorker;
import java.util.Collections;

final class Lost implements Case {
    private static final int OLD_KEYS = 1_000;
    private static final int NEW_KEYS = 1_000;

    private final SharedMap.Factory maps;
    private final String scheme;
    private final Workers workers;

    /**
     * The map of the current operation. It is set between the batches of the workers, whose barrier
     * makes the change visible to them.
     */
    private SharedMap map;

    Lost(SharedMap.Factory maps, String scheme, int threads) throws Refusal {
        this.maps = maps;
        this.scheme = scheme;
        map = maps.written(scheme, OLD_KEYS);
        ShareWorker worker = this::putNewKeys;
        workers = Workers.ofShares(Collections.nCopies(threads, worker));
    }

    private long putNewKeys(Share share) {
        for (long k = share.first(); k < share.end(); k += share.step()) {
            map.put(OLD_KEYS + k, OLD_KEYS + k + 1);
        }
        return 0;
    }

    /**
     * Measures lost entries. For a safe scheme the check is the number of entries found. The metric
     * is the number of missing entries per 1,000.
     */
    @Override
    public Result perform(long operations) throws Exception {
        long found = 0;
        for (long k = 0; k < operations; k++) {
            map = maps.written(scheme, OLD_KEYS);
            workers.perform(NEW_KEYS);
            found += map.size() - OLD_KEYS;
        }
        long put = operations * NEW_KEYS;
        return new Result(put, map.isSafe() ? found : put)
                .with("lost", (double) (put - found) / operations);
    }

    @Override
    public void close() throws InterruptedException {
        workers.close();
    }
}
