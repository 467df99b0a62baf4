// SPDX-License-Identifier: Apache-2.0
// The cases increment and read_mostly: threads that share one counter.
package benchlab.counter;

import benchlab.kit.Case;
import benchlab.kit.Result;
import benchlab.kit.Workers;
import benchlab.kit.Workers.ShareWorker;
import java.util.Collections;

final class Counting implements Case {
    private final Scheme counter;
    private final Workers workers;

    private Counting(Scheme counter, int threads, ShareWorker worker) {
        this.counter = counter;
        this.workers = Workers.ofShares(Collections.nCopies(threads, worker));
    }

    static Counting increments(Scheme counter, int threads) {
        return new Counting(
                counter,
                threads,
                share -> {
                    counter.increments(share.size());
                    return 0;
                });
    }

    static Counting incrementsAndReads(Scheme counter, int threads) {
        return new Counting(counter, threads, share -> counter.incrementsAndReads(share.size()));
    }

    /**
     * Counts in all threads. For a safe counter the check is its final value, and no read may
     * return a lower value than the previous read.
     */
    @Override
    public Result perform(long operations) throws Exception {
        long before = counter.value();
        Result result = workers.perform(operations);
        long reached = counter.value() - before;
        long check = counter.isSafe() ? result.check() + reached : operations;
        return new Result(operations, check, result.times(), result.metrics())
                .with("lost", percentLost(operations, reached));
    }

    static double percentLost(long operations, long reached) {
        return 100.0 * (operations - reached) / operations;
    }

    @Override
    public void close() throws InterruptedException {
        workers.close();
    }
}
