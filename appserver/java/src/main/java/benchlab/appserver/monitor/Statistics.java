// SPDX-License-Identifier: Apache-2.0
// What was counted, added up.
package benchlab.appserver.monitor;

/** Statistics of a page or of a query, read without stopping anybody. Times are in nanoseconds. */
public final class Statistics {

    final Histogram times = new Histogram();
    long errors;
    long clientErrors;
    long total;
    long max;
    long cpu;

    Statistics() {}

    /** Requests that were answered, or executions of the query, failed ones included. */
    public long count() {
        return times.count();
    }

    /** Answers of 500 and more, or with an exception; of a query those that failed. */
    public long errors() {
        return errors;
    }

    /** Answers of 400 to 499. */
    public long clientErrors() {
        return clientErrors;
    }

    /** The sum of all times. */
    public long totalNanos() {
        return total;
    }

    /** The longest time. */
    public long maxNanos() {
        return max;
    }

    /**
     * CPU time of the threads, estimated: a thread reads it for a request each millisecond at
     * most, and that one stands for those of the page before it.
     */
    public long cpuNanos() {
        return cpu;
    }

    /** The times. */
    public Histogram times() {
        return times;
    }
}
