// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The request that a thread serves. Each thread reuses one object, so that counting allocates no
 * memory.
 */
final class TimedRequest {

    /**
     * The maximum number of query executions to buffer until the end of the request, when its page
     * is known.
     */
    static final int PARTS = 64;

    private static final int SUMS = 8;

    final Folding.PageName name = new Folding.PageName();
    final int[] queries = new int[PARTS];
    final long[] nanos = new long[PARTS];
    final boolean[] failed = new boolean[PARTS];

    /** The monitor of the current request; null while the thread serves no request. */
    @Nullable Monitor monitor;

    /** True if the request may add a page. */
    boolean mayAddPage;

    long started;

    /**
     * The CPU time of the thread at the start, in nanoseconds; negative if it is not measured for
     * this request.
     */
    long cpuStarted = -1;

    int parts;

    private final int[] sumQueries = new int[SUMS + 1];
    private final long[] sumCounts = new long[SUMS + 1];
    private final long[] sumNanos = new long[SUMS + 1];
    private int sums;

    private final long thread = Thread.currentThread().getId();
    private long nextCpu = Long.MIN_VALUE;
    private long random = thread * 0x9E3779B97F4A7C15L + 1;

    void begin(Monitor monitor, String method, String path) {
        this.monitor = monitor;
        parts = 0;
        sums = 0;
        name.setRoute(method, path);
        mayAddPage = Folding.isPageMethod(method);
        cpuStarted = -1;
        started = System.nanoTime();
        if (started - nextCpu >= 0 || nextCpu == Long.MIN_VALUE) {
            readCpu();
        }
    }

    /**
     * Measures CPU time at random intervals of 1 to 2 ms, so that the measurements do not always
     * miss the same periodic request. A measurement costs a system call. The random numbers are
     * from Marsaglia, Xorshift RNGs (2003).
     */
    private void readCpu() {
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        nextCpu = started + (1 << 20) + (random & (1 << 20) - 1);
        cpuStarted = Monitor.threadCpuNanos();
        started = System.nanoTime();
    }

    int stripe(int stripes) {
        return (int) thread & stripes - 1;
    }

    /** Sums the buffered executions by query and empties the buffer. */
    void sumUp() {
        for (int part = 0; part < parts; part++) {
            int place = 0;
            while (place < Math.min(sums, SUMS) && sumQueries[place] != queries[part]) {
                place++;
            }
            if (place == sums) {
                sums++;
                sumQueries[place] = place == SUMS ? 0 : queries[part];
                sumCounts[place] = 0;
                sumNanos[place] = 0;
            }
            sumCounts[place]++;
            sumNanos[place] += nanos[part];
        }
    }

    List<Example.Part> sums() {
        List<Example.Part> list = new ArrayList<>();
        for (int k = 0; k < sums; k++) {
            list.add(new Example.Part(sumQueries[k], sumCounts[k], sumNanos[k]));
        }
        return list;
    }

    /** Returns a copy that another thread may end. */
    TimedRequest detached() {
        var copy = new TimedRequest();
        copy.monitor = monitor;
        copy.name.set(new String(name.text, 0, name.length));
        copy.mayAddPage = mayAddPage;
        copy.started = started;
        copy.parts = parts;
        System.arraycopy(queries, 0, copy.queries, 0, parts);
        System.arraycopy(nanos, 0, copy.nanos, 0, parts);
        System.arraycopy(failed, 0, copy.failed, 0, parts);
        copy.sums = sums;
        System.arraycopy(sumQueries, 0, copy.sumQueries, 0, sums);
        System.arraycopy(sumCounts, 0, copy.sumCounts, 0, sums);
        System.arraycopy(sumNanos, 0, copy.sumNanos, 0, sums);
        return copy;
    }

    @Override
    public String toString() {
        return new String(Arrays.copyOf(name.text, name.length));
    }
}
