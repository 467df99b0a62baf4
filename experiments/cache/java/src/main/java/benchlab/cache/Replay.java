// SPDX-License-Identifier: Apache-2.0
// The cases read_only and read_mostly: threads replay a trace on one map.
package benchlab.cache;

import benchlab.kit.Case;
import benchlab.kit.Result;
import benchlab.kit.Workers;
import benchlab.kit.Workers.Share;
import benchlab.kit.Workers.ShareWorker;
import java.util.Collections;

final class Replay implements Case {
    private final SharedMap map;
    private final Trace trace;
    private final Workers workers;

    Replay(SharedMap map, Trace trace, int threads) {
        this.map = map;
        this.trace = trace;
        ShareWorker worker = this::replay;
        workers = Workers.ofShares(Collections.nCopies(threads, worker));
    }

    /** Performs a worker's operations. Returns the sum of the values that were read. */
    private long replay(Share share) {
        long sum = 0;
        for (long k = share.first(); k < share.end(); k += share.step()) {
            if (trace.reads(k)) {
                sum += map.get(trace.key(k));
            } else {
                map.put(trace.key(k), trace.value(k));
            }
        }
        return sum;
    }

    @Override
    public Result perform(long operations) throws Exception {
        return workers.perform(operations);
    }

    @Override
    public void close() throws InterruptedException {
        workers.close();
    }
}
