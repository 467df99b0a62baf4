// SPDX-License-Identifier: Apache-2.0
// A case in which threads lease concurrently.
package benchlab.pool;

import benchlab.kit.Case;
import benchlab.kit.Latencies;
import benchlab.kit.Result;
import benchlab.kit.Workers;
import java.util.List;
import java.util.stream.IntStream;

final class Together implements Case {

    private final ResourcePool pool;
    private final Holder holder;
    private final List<Leaser> leasers;
    private final Workers workers;

    Together(int threads, ResourcePool pool, Holder holder) {
        this.pool = pool;
        this.holder = holder;
        leasers = IntStream.range(0, threads).mapToObj(number -> new Leaser()).toList();
        workers = Workers.ofShares(leasers);
    }

    @Override
    public Result perform(long operations) throws Exception {
        leasers.forEach(Leaser::begin);
        Result result = workers.perform(operations);
        var latencies = new Latencies();
        leasers.forEach(leaser -> latencies.add(leaser.latencies));
        Result.Times times = result.times();
        return new Result(
                        result.units(),
                        result.check(),
                        new Result.Times(times.start(), times.end(), latencies),
                        result.metrics())
                .with("fairness", fairness())
                .with("over", leasers.stream().mapToLong(leaser -> leaser.over).sum())
                .with("lost", pool.inUse());
    }

    /**
     * Returns Jain's index of the threads' rates (Jain, Chiu, Hawe, DEC-TR-301, 1984), as a
     * percentage.
     */
    private double fairness() {
        double[] rates =
                leasers.stream().mapToDouble(leaser -> leaser.rate).filter(rate -> rate > 0).toArray();
        double sum = 0;
        double squares = 0;
        for (double rate : rates) {
            sum += rate;
            squares += rate * rate;
        }
        return 100 * sum * sum / (rates.length * squares);
    }

    @Override
    public void close() throws Exception {
        workers.close();
        pool.close();
    }

    /** One thread's work, and its metrics in the batch. */
    private final class Leaser implements Workers.ShareWorker, Holder {
        private final Latencies latencies = new Latencies();

        /** The number of leases of resources that another thread held at the same time. */
        private long over;

        /** The number of operations per ns; 0 if there were none. */
        private double rate;

        void begin() {
            latencies.clear();
            over = 0;
            rate = 0;
        }

        @Override
        public long perform(Workers.Share share) throws Exception {
            long check = 0;
            long start = System.nanoTime();
            long now = start;
            for (long k = share.first(); k < share.end(); k += share.step()) {
                try {
                    check += pool.use(this, k);
                } catch (Failed e) {
                    check += 2;
                }
                long before = now;
                now = System.nanoTime();
                latencies.record(now - before);
            }
            rate = share.size() / (double) Math.max(1, now - start);
            return check;
        }

        @Override
        public long hold(Resource resource, long k) throws Failed {
            over += resource.isHeld ? 1 : 0;
            resource.isHeld = true;
            resource.uses++;
            try {
                return holder.hold(resource, k);
            } finally {
                resource.isHeld = false;
            }
        }
    }
}
