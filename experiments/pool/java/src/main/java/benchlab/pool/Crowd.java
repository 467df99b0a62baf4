// SPDX-License-Identifier: Apache-2.0
// The case crowd: many more threads than resources, and one more thread that needs no resource.
package benchlab.pool;

import benchlab.kit.Case;
import benchlab.kit.Result;
import benchlab.kit.Workers;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;

final class Crowd implements Case {

    private static final OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private final Together leasers;

    Crowd(Together leasers) {
        this.leasers = leasers;
    }

    @Override
    public Result perform(long operations) throws Exception {
        var bystander = new Bystander();
        Thread thread = Workers.thread(bystander);
        thread.start();
        long start = System.nanoTime();
        long cpu = PROCESS.getProcessCpuTime();
        Result result = leasers.perform(operations);
        double cores =
                (double) (PROCESS.getProcessCpuTime() - cpu) / (System.nanoTime() - start);
        bystander.isEnding = true;
        thread.join();
        return result.with("cores", cores).with("late", bystander.meanDelayMicros());
    }

    @Override
    public void close() throws Exception {
        leasers.close();
    }

    /** Repeatedly sleeps for a millisecond, and measures how late it wakes up. */
    private static final class Bystander implements Runnable {
        private static final long PAUSE_NS = 1_000_000;

        private volatile boolean isEnding;
        private long count;
        private long delay; // ns, of all

        @Override
        public void run() {
            while (!isEnding) {
                long due = System.nanoTime() + PAUSE_NS;
                long remaining = PAUSE_NS;
                while (remaining > 0) {
                    LockSupport.parkNanos(remaining);
                    remaining = due - System.nanoTime();
                }
                count++;
                delay -= remaining;
            }
        }

        double meanDelayMicros() {
            return delay / 1000.0 / Math.max(1, count);
        }
    }
}
