// SPDX-License-Identifier: Apache-2.0
package benchlab.kit;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The case of a server, to which a load generator sends requests. The server listens on 127.0.0.1
 * and runs from before {@link Subject#open} returns until the case is closed. The thread that reads
 * the commands does no work for the server.
 *
 * <p>Closing shuts the server down gracefully: it accepts no more connections, finishes the requests
 * in progress, closes the connections, and releases the port.
 */
public interface Serving extends Case {

    /**
     * Returns the server's URL, such as {@code http://127.0.0.1:40123}.
     *
     * @return the URL
     */
    URI url();

    /**
     * Returns the number of threads that run handlers.
     *
     * @return the number of threads; 0 if the event loops run the handlers
     */
    int workers();

    /**
     * Returns the number of threads that wait for connections and requests.
     *
     * @return the number of threads
     */
    int loops();

    @Override
    default Map<String, String> settings() {
        var settings = new LinkedHashMap<String, String>();
        settings.put("url", url().toString());
        settings.put("workers", Integer.toString(workers()));
        settings.put("loops", Integer.toString(loops()));
        return settings;
    }

    /**
     * Always fails, because a server does no operations.
     *
     * @throws Refusal always
     */
    @Override
    default Result perform(long operations) throws Refusal {
        throw Refusal.unsupported("the case is a server and has no operations");
    }
}
