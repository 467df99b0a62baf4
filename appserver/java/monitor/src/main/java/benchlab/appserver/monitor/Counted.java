// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.util.concurrent.atomic.AtomicLongArray;

/** Exact, monotonic counts of one query, or of one stripe of a page. */
final class Counted {

    private static final int COUNT = 0;
    private static final int ERRORS = 1;
    private static final int CLIENT_ERRORS = 2;
    private static final int TOTAL = 3;
    private static final int MAX = 4;
    private static final int CPU = 5;
    private static final int COUNTED_FOR_CPU = 6;

    /**
     * The first index in use; the elements before it fill a cache line that other arrays may share.
     */
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

    /** Adds the CPU time of one request, extrapolated to all requests since the previous sample. */
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

    /** Adds the counts to {@code statistics}. */
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
