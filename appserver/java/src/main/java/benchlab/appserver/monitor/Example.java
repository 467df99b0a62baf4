// SPDX-License-Identifier: Apache-2.0
// One of the slowest requests.
package benchlab.appserver.monitor;

import java.util.List;

/**
 * A request with the queries in it.
 *
 * @param nanos how long it took
 * @param startedMillis when it began, since 1970
 * @param cpuNanos of its thread; negative if it was not read
 * @param path what was asked, without the query of the URL
 */
record Example(
        long nanos, long startedMillis, long cpuNanos, int status, String path, List<Part> parts) {

    static final int MAX_PATH = 120;

    /**
     * All executions of a query in the request.
     *
     * @param query its number; 0: others
     */
    record Part(int query, long count, long nanos) {}
}
