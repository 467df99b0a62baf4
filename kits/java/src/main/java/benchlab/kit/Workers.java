// SPDX-License-Identifier: Apache-2.0
// Threads that share a batch of operations and do them at once, and the latency of every one.
package benchlab.kit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Phaser;

/**
 * One thread for each worker, alive until this is closed. A case that does several operations at
 * once makes its workers when it is opened, and hands its batches on to {@link #perform(long)}.
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

    /** All wait here for the start of a batch, and again for its end. */
    private final Phaser barrier = new Phaser(1);

    private final List<Member> members = new ArrayList<>();
    private long operations;

    /** Starts a thread for each worker. */
    public Workers(List<? extends Worker> workers) {
        for (Worker worker : workers) {
            members.add(new Member(worker, members.size()));
        }
        barrier.bulkRegister(members.size());
        members.forEach(Thread::start);
    }

    /**
     * Does the operations 0 to {@code operations} - 1: of n workers, worker c does every operation k
     * with {@code k mod n = c}, in ascending order.
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
        return new Result(operations, check, new Result.Times(start, end, latencies));
    }

    /** Ends the threads; what the workers hold is for the case to release. */
    @Override
    public void close() throws InterruptedException {
        barrier.forceTermination();
        for (Member member : members) {
            member.join();
        }
    }

    /** The thread of a worker. What it measured is read when it waits at the barrier. */
    private final class Member extends Thread {
        private final Worker worker;
        private final int first;
        private final Latencies latencies = new Latencies();
        private long start;
        private long end;
        private long check;
        private Exception failure;

        Member(Worker worker, int first) {
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
                    work();
                } catch (Exception e) {
                    failure = e;
                } catch (Error e) {
                    failure = new ExecutionException(e);
                }
                barrier.arriveAndAwaitAdvance();
            }
        }

        /** The clock is read once per operation: the end of one is the start of the next. */
        private void work() throws Exception {
            int step = members.size();
            long sum = 0;
            long now = System.nanoTime();
            start = now;
            for (long k = first; k < operations; k += step) {
                sum += worker.perform(k);
                long before = now;
                now = System.nanoTime();
                latencies.record(now - before);
            }
            end = now;
            check = sum;
        }
    }
}
