// SPDX-License-Identifier: Apache-2.0
// What is counted of a page by some threads, or of a query.
package benchlab.appserver.monitor;

import java.util.concurrent.atomic.AtomicLongArray;

/** Numbers that only grow, each of them exact. */
final class Counted {

    private static final int COUNT = 0;
    private static final int ERRORS = 1;
    private static final int CLIENT_ERRORS = 2;
    private static final int TOTAL = 3;
    private static final int MAX = 4;
    private static final int CPU = 5;
    private static final int COUNTED_FOR_CPU = 6;

    /** Behind a cache line that other arrays may be in. */
    private static final int FIRST = 16;

    private final AtomicLongArray numbers = new AtomicLongArray(FIRST + 16);
    private final Histogram times = new Histogram();

    void record(long nanos, boolean failed, boolean refused) {
        times.record(nanos);
        numbers.getAndIncrement(FIRST + COUNT);
        numbers.getAndAdd(FIRST + TOTAL, nanos);
        for (long max = get(MAX); max < nanos; max = get(MAX)) {
            if (numbers.compareAndSet(FIRST + MAX, max, nanos)) {
                break;
            }
        }
        if (failed) {
            numbers.getAndIncrement(FIRST + ERRORS);
        } else if (refused) {
            numbers.getAndIncrement(FIRST + CLIENT_ERRORS);
        }
    }

    /** CPU time of one request, which stands for those since the latest one, too. */
    void recordCpu(long nanos) {
        long before = get(COUNTED_FOR_CPU);
        long now = get(COUNT);
        if (now > before && numbers.compareAndSet(FIRST + COUNTED_FOR_CPU, before, now)) {
            numbers.getAndAdd(FIRST + CPU, nanos * (now - before));
        }
    }

    long count() {
        return get(COUNT);
    }

    long errors() {
        return get(ERRORS);
    }

    long total() {
        return get(TOTAL);
    }

    /** Adds them to metrics. */
    void addTo(Statistics statistics) {
        statistics.times.add(times);
        statistics.errors += get(ERRORS);
        statistics.clientErrors += get(CLIENT_ERRORS);
        statistics.total += get(TOTAL);
        statistics.cpu += get(CPU);
        statistics.max = Math.max(statistics.max, get(MAX));
    }

    private long get(int number) {
        return numbers.get(FIRST + number);
    }
}
