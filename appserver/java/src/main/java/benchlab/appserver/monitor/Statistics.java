// SPDX-License-Identifier: Apache-2.0
// Statistics of a page or a query.
package benchlab.appserver.monitor;

import java.time.Duration;

/** Statistics of a page or of a query, read while threads continue to count. */
public final class Statistics {

    final Histogram times = new Histogram();
    long errors;
    long clientErrors;
    long total; // In ns, as the following.
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
    public Duration totalTime() {
        return Duration.ofNanos(total);
    }

    /** The longest time. */
    public Duration maxTime() {
        return Duration.ofNanos(max);
    }

    /**
     * CPU time of the threads, estimated: a thread reads it for a request each millisecond at
     * most, and that one stands for those of the page before it.
     */
    public Duration cpuTime() {
        return Duration.ofNanos(cpu);
    }

    /** The times. */
    public Histogram times() {
        return times;
    }
}
