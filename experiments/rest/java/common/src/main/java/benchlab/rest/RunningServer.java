// SPDX-License-Identifier: Apache-2.0
// A server that was started.
package benchlab.rest;

import benchlab.kit.Serving;
import java.net.URI;

/**
 * @param port that the system chose
 * @param workers the size of the pool that runs handlers
 * @param loops the threads that wait for connections and requests
 * @param stop ends it gracefully
 */
record RunningServer(int port, int workers, int loops, Stop stop) implements Serving {

    /** Finishes what is under way, within {@link RestSubject#GRACE}, and ends the server's threads. */
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
