// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.util.List;

/**
 * One of the slowest requests, with its queries.
 *
 * @param nanos the elapsed time in nanoseconds
 * @param startedMillis the start, in milliseconds since 1970
 * @param cpuNanos the CPU time of the thread in nanoseconds; negative if it was not measured
 * @param status the status code of the response
 * @param path the path of the URL, without the query string
 * @param parts the queries
 */
record Example(
        long nanos, long startedMillis, long cpuNanos, int status, String path, List<Part> parts) {

    static final int MAX_PATH = 120;

    /**
     * All executions of one query in the request.
     *
     * @param query the ID of the query; 0 for all queries without an ID
     * @param count the number of executions
     * @param nanos the total time in nanoseconds
     */
    record Part(int query, long count, long nanos) {}
}
