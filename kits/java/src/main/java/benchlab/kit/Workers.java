// SPDX-License-Identifier: Apache-2.0
// Threads that share a batch of operations and do them at once.
package benchlab.kit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Phaser;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread for each worker, alive until this is closed. A case that does several operations at
 * once makes its workers when it is opened, and hands its batches on to {@link #perform(long)}: of n
 * workers, worker c does every operation k with {@code k mod n = c}. All start on a barrier.
 */
public final class Workers implements AutoCloseable {

    /** Does its share of the operations on a thread of its own. */
    @FunctionalInterface
    public interface Worker {
        /**
         * Does operation {@code k} of the batch, which produces one unit.
         *
         * @param k counted from 0
         * @return what the operation adds to the check
         */
        long perform(long k) throws Exception;
    }

    /** Does its share of the operations in a loop of its own, for a case that tells no latencies. */
    @FunctionalInterface
    public interface ShareWorker {
        /**
         * Does the operations of its share, which produce one unit each.
         *
         * @return what they add to the check
         */
        long perform(Share share) throws Exception;
    }

    /** The operations {@code first}, {@code first + step}, ... below {@code end} of a batch. */
    public record Share(long first, long step, long end) {
        /** The number of operations. */
        public long size() {
            return first < end ? (end - first - 1) / step + 1 : 0;
        }
    }

    private static final long NANOS_PER_S = 1_000_000_000;

    /** All wait here for the start of a batch, and again for its end. */
    private final Phaser barrier = new Phaser(1);

    private final List<Member> members = new ArrayList<>();
    private final boolean hasLatencies;
    private long operations;

    /** Starts a thread for each worker; the latency of every operation is told. */
    public Workers(List<? extends Worker> workers) {
        this(workers, 0);
    }

    /**
     * Starts a thread for each worker; operation k is due k / rate s after the start of its batch,
     * and its latency counts from then.
     *
     * @param rate {@link Arguments#rate()}; 0: each worker begins an operation when it has ended
     *     the one before
     */
    public Workers(List<? extends Worker> workers, long rate) {
        this(workers.stream().map(worker -> measured(worker, rate)).toList(), true);
    }

    /** Starts a thread for each worker; no latencies are told. */
    public static Workers ofShares(List<? extends ShareWorker> workers) {
        return new Workers(
                workers.stream()
                        .<MeasuredWorker>map(worker -> (share, times) -> worker.perform(share))
                        .toList(),
                false);
    }

    private Workers(List<MeasuredWorker> workers, boolean hasLatencies) {
        this.hasLatencies = hasLatencies;
        for (MeasuredWorker worker : workers) {
            members.add(new Member(worker, members.size()));
        }
        barrier.bulkRegister(members.size());
        members.forEach(Thread::start);
    }

    /**
     * Does the operations 0 to {@code operations} - 1, each worker its own in ascending order.
     *
     * @throws Exception what a worker threw: it has left out the rest of its share, the others have
     *     done theirs
     */
    public Result perform(long operations) throws Exception {
        this.operations = operations;
        barrier.arriveAndAwaitAdvance();
        barrier.arriveAndAwaitAdvance();

        long check = 0;
        long start = Long.MAX_VALUE;
        long end = Long.MIN_VALUE;
        var latencies = new Latencies();
        for (Member member : members) {
            if (member.failure != null) {
                throw member.failure;
            }
            if (member.first < operations) { // Whoever had nothing to do has no part in the times.
                check += member.check;
                start = Math.min(start, member.start);
                end = Math.max(end, member.end);
                latencies.add(member.latencies);
            }
        }
        var times = new Result.Times(start, end, hasLatencies ? latencies : null);
        return new Result(operations, check, times, Map.of());
    }

    /** Ends the threads; what the workers hold is for the case to release. */
    @Override
    public void close() throws InterruptedException {
        barrier.forceTermination();
        for (Member member : members) {
            member.join();
        }
    }

    private interface MeasuredWorker {
        long perform(Share share, Latencies latencies) throws Exception;
    }

    private static MeasuredWorker measured(Worker worker, long rate) {
        return rate == 0 ? doInSequence(worker) : doAtRate(worker, rate);
    }

    private static MeasuredWorker doAtRate(Worker worker, long rate) {
        return (share, latencies) -> {
            long sum = 0;
            long start = System.nanoTime();
            for (long k = share.first(); k < share.end(); k += share.step()) {
                long due = start + k * NANOS_PER_S / rate;
                waitUntil(due);
                sum += worker.perform(k);
                latencies.record(System.nanoTime() - due);
            }
            return sum;
        };
    }

    private static void waitUntil(long nanoTime) {
        long remaining = nanoTime - System.nanoTime();
        while (remaining > 0) {
            LockSupport.parkNanos(remaining);
            remaining = nanoTime - System.nanoTime();
        }
    }

    /** The clock is read once per operation: the end of one is the start of the next. */
    private static MeasuredWorker doInSequence(Worker worker) {
        return (share, latencies) -> {
            long sum = 0;
            long now = System.nanoTime();
            for (long k = share.first(); k < share.end(); k += share.step()) {
                sum += worker.perform(k);
                long before = now;
                now = System.nanoTime();
                latencies.record(now - before);
            }
            return sum;
        };
    }

    /** The thread of a worker. What it measured is read when it waits at the barrier. */
    private final class Member extends Thread {
        private final MeasuredWorker worker;
        private final int first;
        private final Latencies latencies = new Latencies();
        private long start;
        private long end;
        private long check;
        private Exception failure;

        Member(MeasuredWorker worker, int first) {
            super("worker-" + first);
            this.worker = worker;
            this.first = first;
            setDaemon(true);
        }

        @Override
        public void run() {
            while (barrier.arriveAndAwaitAdvance() >= 0) { // It is negative after the termination.
                latencies.clear();
                check = 0;
                failure = null;
                try {
                    work(new Share(first, members.size(), operations));
                } catch (Exception e) {
                    failure = e;
                } catch (Error e) {
                    failure = new ExecutionException(e);
                }
                barrier.arriveAndAwaitAdvance();
            }
        }

        private void work(Share share) throws Exception {
            start = System.nanoTime();
            check = worker.perform(share, latencies);
            end = System.nanoTime();
        }
    }
}
