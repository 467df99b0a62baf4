// SPDX-License-Identifier: Apache-2.0
// Measures the CPU time that leasing and returning cost one thread, compared with a queue of the
// JDK.
package benchlab.appserver.pool;

import benchlab.appserver.pool.PoolOptions.RequestOrder;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;

/** A program, not a test: prints the median and the range of 40 rounds after 20 warm-up rounds. */
final class PoolCost {

    private static final int SIZE = 8;
    private static final int ROUNDS = 60;
    private static final int WARM_UP = 20;
    private static final int OPERATIONS = 200_000;

    private final String name;
    private final Callable<Integer> round;
    private final List<Double> costs = new ArrayList<>();

    private PoolCost(String name, Callable<Integer> round) {
        this.name = name;
        this.round = round;
    }

    public static void main(String[] arguments) throws Exception {
        var queue = new ArrayBlockingQueue<Object>(SIZE);
        for (int k = 0; k < SIZE; k++) {
            queue.add(new Object());
        }
        var inTurn = pool(RequestOrder.ROUND_ROBIN);
        var latestFirst = pool(RequestOrder.LIFO);
        var measured =
                List.of(
                        new PoolCost("Pool, ROUND_ROBIN", () -> lease(inTurn)),
                        new PoolCost("Pool, LIFO", () -> lease(latestFirst)),
                        new PoolCost("ArrayBlockingQueue", () -> take(queue)));
        for (int round = 0; round < ROUNDS; round++) {
            for (PoolCost competitor : measured) {
                competitor.measure(round >= WARM_UP);
            }
        }
        measured.forEach(PoolCost::print);
    }

    private static Pool<Object> pool(RequestOrder order) {
        return new Pool<>(SIZE, PoolOptions.of(Object::new).order(order));
    }

    private static int lease(Pool<Object> pool) throws InterruptedException {
        int check = 0;
        for (int k = 0; k < OPERATIONS; k++) {
            try (var lease = pool.lease()) {
                check += lease.resource() != null ? 1 : 0;
            }
        }
        return check;
    }

    private static int take(ArrayBlockingQueue<Object> queue) throws InterruptedException {
        int check = 0;
        for (int k = 0; k < OPERATIONS; k++) {
            Object resource = queue.take();
            check += resource != null ? 1 : 0;
            queue.put(resource);
        }
        return check;
    }

    private void measure(boolean isRecorded) throws Exception {
        var clock = ManagementFactory.getThreadMXBean();
        long start = clock.getCurrentThreadCpuTime();
        int check = round.call();
        double cost = (double) (clock.getCurrentThreadCpuTime() - start) / OPERATIONS;
        if (check != OPERATIONS) {
            throw new AssertionError(name + " did " + check);
        }
        if (isRecorded) {
            costs.add(cost);
        }
    }

    private void print() {
        Collections.sort(costs);
        System.out.printf(
                "%-20s %5.1f ns (%.1f to %.1f)%n",
                name, costs.get(costs.size() / 2), costs.get(0), costs.get(costs.size() - 1));
    }
}
