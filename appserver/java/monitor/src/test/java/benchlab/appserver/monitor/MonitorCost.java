// SPDX-License-Identifier: Apache-2.0
// Measures the CPU time that recording a request costs one thread.
package benchlab.appserver.monitor;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A program, not a test: prints the median and the range of 40 rounds after 20 warm-up rounds. */
final class MonitorCost {

    private static final int ROUNDS = 60;
    private static final int WARM_UP = 20;
    private static final int OPERATIONS = 200_000;

    private static final Monitor MONITOR = new Monitor();
    private static final Query QUERY = MONITOR.query("SELECT name FROM article WHERE id = ?");

    private MonitorCost() {}

    public static void main(String[] arguments) {
        measure("the clock, twice", MonitorCost::readClock);
        measure("a request", MonitorCost::request);
        measure("a request with a query", MonitorCost::requestWithQuery);
    }

    private static long latest;

    private static void readClock() {
        latest += System.nanoTime();
        latest -= System.nanoTime();
    }

    private static void request() {
        MONITOR.begin("GET", "/articles/4711");
        MONITOR.end(200, "/articles/4711");
    }

    private static void requestWithQuery() {
        MONITOR.begin("GET", "/articles/4711");
        MONITOR.record(QUERY, 12_345, false);
        MONITOR.end(200, "/articles/4711");
    }

    private static void measure(String name, Runnable operation) {
        List<Double> costs = new ArrayList<>();
        var clock = ManagementFactory.getThreadMXBean();
        for (int round = 0; round < ROUNDS; round++) {
            long start = clock.getCurrentThreadCpuTime();
            for (int k = 0; k < OPERATIONS; k++) {
                operation.run();
            }
            double cost = (double) (clock.getCurrentThreadCpuTime() - start) / OPERATIONS;
            if (round >= WARM_UP) {
                costs.add(cost);
            }
        }
        Collections.sort(costs);
        System.out.printf(
                "%s: %.0f ns (%.0f to %.0f)%n",
                name, costs.get(costs.size() / 2), costs.get(0), costs.get(costs.size() - 1));
    }
}
