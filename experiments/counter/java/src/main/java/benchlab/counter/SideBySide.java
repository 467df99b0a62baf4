// SPDX-License-Identifier: Apache-2.0
// The case side_by_side: a loop that increments a safe and an unsafe counter.
package benchlab.counter;

import benchlab.appserver.counter.AtomicCounter;
import benchlab.kit.Case;
import benchlab.kit.Result;
import benchlab.kit.Workers;
import benchlab.kit.Workers.ShareWorker;
import java.util.Collections;

final class SideBySide implements Case {
    private final AtomicCounter safe = new AtomicCounter();
    private final UnsafeCounter unsafe = new UnsafeCounter();
    private final Workers workers;

    SideBySide(int threads) {
        ShareWorker worker =
                share -> {
                    increments(share.size());
                    return 0;
                };
        workers = Workers.ofShares(Collections.nCopies(threads, worker));
    }

    private void increments(long times) {
        for (long i = 0; i < times; i++) {
            safe.increment();
            unsafe.increment();
        }
    }

    /**
     * Increments both counters. The metric is the number of increments that the unsafe counter
     * lost.
     */
    @Override
    public Result perform(long operations) throws Exception {
        long safeBefore = safe.value();
        long unsafeBefore = unsafe.value();
        Result result = workers.perform(operations);
        long reached = unsafe.value() - unsafeBefore;
        return new Result(operations, safe.value() - safeBefore, result.times(), result.metrics())
                .with("lost", Counting.percentLost(operations, reached));
    }

    @Override
    public void close() throws InterruptedException {
        workers.close();
    }
}
