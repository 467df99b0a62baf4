// SPDX-License-Identifier: Apache-2.0
package benchlab.kit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Phaser;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that share the operations of a batch and perform them concurrently. Each worker has its own
 * thread, which runs until this object is closed. A case with concurrent operations creates its
 * workers when it is opened, and passes its batches to {@link #perform(long)}. Of n workers, worker
 * c performs every operation k with {@code k mod n = c}. All workers start at a barrier.
 *
 * <p>With the system property {@code benchlab.threads=virtual}, which needs Java 21, the threads are
 * virtual.
 */
public final class Workers implements AutoCloseable {

    /** Performs a worker's operations, one in each call, in the worker's own thread. */
    @FunctionalInterface
    public interface Worker {
        /**
         * Performs operation {@code k} of the batch. The operation produces one unit.
         *
         * @param k the operation, counted from 0
         * @return the value to add to the check
         * @throws Exception if the operation failed
         */
        long perform(long k) throws Exception;
    }

    /** Performs a worker's share of the operations in a loop, for a case without latencies. */
    @FunctionalInterface
    public interface ShareWorker {
        /**
         * Performs the operations of a share. Each operation produces one unit.
         *
         * @param share the share
         * @return the value to add to the check
         * @throws Exception if an operation failed
         */
        long perform(Share share) throws Exception;
    }

    /**
     * The operations {@code first}, {@code first + step}, ... below {@code end} of a batch.
     *
     * @param first the first operation
     * @param step the distance between operations
     * @param end the upper bound, exclusive
     */
    public record Share(long first, long step, long end) {
        /**
         * Returns the number of operations.
         *
         * @return the number of operations
         */
        public long size() {
            return first < end ? (end - first - 1) / step + 1 : 0;
        }
    }

    private static final long NANOS_PER_S = 1_000_000_000;
    private static final ThreadFactory THREADS = threads();

    /** All threads wait at this barrier for the start of a batch, and again for its end. */
    private final Phaser barrier = new Phaser(1);

    private final List<Member> members = new ArrayList<>();
    private final boolean hasLatencies;
    private long operations;

    /**
     * Starts a thread for each worker; the latency of every operation is reported.
     *
     * @param workers the workers
     */
    public Workers(List<? extends Worker> workers) {
        this(workers, 0);
    }

    /**
     * Starts a thread for each worker. Operation k is due k / rate seconds after the start of its
     * batch, and its latency counts from then.
     *
     * @param workers the workers
     * @param rate {@link Arguments#rate()}; if it is 0, each worker starts an operation when it has
     *     finished the previous one
     */
    public Workers(List<? extends Worker> workers, long rate) {
        this(workers.stream().map(worker -> measured(worker, rate)).toList(), true);
    }

    /**
     * Starts a thread for each worker; no latencies are reported.
     *
     * @param workers the workers
     * @return the threads
     */
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
        try {
            members.forEach(Member::start);
        } catch (OutOfMemoryError e) { // The system has no further thread.
            barrier.forceTermination();
            throw new IllegalStateException("a thread could not be started: " + e.getMessage(), e);
        }
    }

    /**
     * Returns an unstarted thread of the same kind as the workers' threads: platform or virtual.
     *
     * @param work the work
     * @return the thread
     */
    public static Thread thread(Runnable work) {
        return THREADS.newThread(work);
    }

    static boolean isVirtual() {
        return "virtual".equals(System.getProperty("benchlab.threads"));
    }

    private static ThreadFactory threads() {
        if (isVirtual()) {
            try { // Compiled for Java 17.
                Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
                return (ThreadFactory)
                        Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("virtual threads need Java 21", e);
            }
        }
        return work -> {
            var thread = new Thread(work);
            thread.setDaemon(true);
            return thread;
        };
    }

    /**
     * Does the operations 0 to {@code operations} - 1. Each worker does its own operations in
     * ascending order.
     *
     * @param operations the number of operations
     * @return the result
     * @throws Exception the exception of a worker, which then skips the rest of its share; the
     *     other workers finish their shares
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
            if (member.first < operations) { // A worker without operations does not affect the times.
                check += member.check;
                start = Math.min(start, member.start);
                end = Math.max(end, member.end);
                latencies.add(member.latencies);
            }
        }
        var times = new Result.Times(start, end, hasLatencies ? latencies : null);
        return new Result(operations, check, times, Map.of());
    }

    /** Ends the threads. The case has to release the resources of the workers. */
    @Override
    public void close() throws InterruptedException {
        barrier.forceTermination();
        for (Member member : members) {
            member.thread.join();
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

    /** Reads the clock once per operation: the end of an operation is the start of the next one. */
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

    /** The thread of a worker. Its measurements are read while it waits at the barrier. */
    private final class Member implements Runnable {
        private final MeasuredWorker worker;
        private final int first;
        private final Thread thread = thread(this);
        private final Latencies latencies = new Latencies();
        private long start;
        private long end;
        private long check;
        private Exception failure;

        Member(MeasuredWorker worker, int first) {
            this.worker = worker;
            this.first = first;
            thread.setName("worker-" + first);
        }

        void start() {
            thread.start();
        }

        @Override
        public void run() {
            while (barrier.arriveAndAwaitAdvance() >= 0) { // Negative after the termination.
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
