// SPDX-License-Identifier: Apache-2.0
package benchlab.rest;

import benchlab.kit.Serving;
import java.net.URI;

/**
 * A running server.
 *
 * @param port the port that the system chose
 * @param workers the size of the thread pool that runs handlers
 * @param loops the number of threads that wait for connections and requests
 * @param stop shuts the server down gracefully
 */
record RunningServer(int port, int workers, int loops, Stop stop) implements Serving {

    /**
     * Finishes the requests in progress, within {@link RestSubject#GRACE}, and ends the server's
     * threads.
     */
    @FunctionalInterface
    interface Stop {
        void run() throws Exception;
    }

    @Override
    public URI url() {
        return URI.create("http://" + RestSubject.HOST + ":" + port);
    }

    @Override
    public void close() throws Exception {
        stop.run();
    }
}
