// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.time.Duration;

/** Statistics of a page or a query, read while threads continue to record. */
public final class Statistics {

    final Histogram times = new Histogram();
    long errors;
    long clientErrors;
    long total; // In nanoseconds, like max and cpu.
    long max;
    long cpu;

    Statistics() {}

    /**
     * Returns the number of completed requests, or of executions of the query. Failed requests and
     * executions are included.
     *
     * @return the number of requests or executions
     */
    public long count() {
        return times.count();
    }

    /**
     * Returns the number of responses with status 500 or above or with an exception; for a query,
     * the number of failed executions.
     *
     * @return the number of errors
     */
    public long errors() {
        return errors;
    }

    /**
     * Returns the number of responses with status 400 to 499.
     *
     * @return the number of responses
     */
    public long clientErrors() {
        return clientErrors;
    }

    /**
     * Returns the sum of all times.
     *
     * @return the total time
     */
    public Duration totalTime() {
        return Duration.ofNanos(total);
    }

    /**
     * Returns the longest time of a request, or of an execution of the query.
     *
     * @return the maximum time; zero if nothing was recorded
     */
    public Duration maxTime() {
        return Duration.ofNanos(max);
    }

    /**
     * Returns the estimated CPU time of the threads. A thread measures the CPU time of at most one
     * request per millisecond, and extrapolates from that request to the previous requests of the
     * same page.
     *
     * @return the CPU time
     */
    public Duration cpuTime() {
        return Duration.ofNanos(cpu);
    }

    /**
     * Returns the histogram of times.
     *
     * @return the histogram
     */
    public Histogram times() {
        return times;
    }
}
