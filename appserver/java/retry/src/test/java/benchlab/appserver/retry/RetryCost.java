// SPDX-License-Identifier: Apache-2.0
// Measures the CPU time that a call without a fault costs one thread.
package benchlab.appserver.retry;

import benchlab.appserver.resilience.Budget;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A program, not a test: prints the median and the range of 40 rounds after 20 warm-up rounds. */
final class RetryCost {

    private static final int ROUNDS = 60;
    private static final int WARM_UP = 20;
    private static final int OPERATIONS = 200_000;

    private RetryCost() {}

    public static void main(String[] arguments) {
        Policy policy =
                Policy.ofAttempts(5).budget(new Budget(0.1, 20)).metrics(new RetryMetrics());
        List<Double> costs = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            double cost = measure(policy);
            if (round >= WARM_UP) {
                costs.add(cost);
            }
        }
        Collections.sort(costs);
        System.out.printf(
                "%.1f ns (%.1f to %.1f)%n",
                costs.get(costs.size() / 2), costs.get(0), costs.get(costs.size() - 1));
    }

    private static double measure(Policy policy) {
        var clock = ManagementFactory.getThreadMXBean();
        int[] check = new int[1];
        long start = clock.getCurrentThreadCpuTime();
        for (int k = 0; k < OPERATIONS; k++) {
            Retry.call(policy, () -> check[0]++);
        }
        double cost = (double) (clock.getCurrentThreadCpuTime() - start) / OPERATIONS;
        if (check[0] != OPERATIONS) {
            throw new AssertionError("wrong number of operations: " + check[0]);
        }
        return cost;
    }
}
