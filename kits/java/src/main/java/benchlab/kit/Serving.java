// SPDX-License-Identifier: Apache-2.0
// A case that is a server: it is asked for nothing over the protocol, a load generator asks it.
package benchlab.kit;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A server that listens on 127.0.0.1 and serves from before {@link Subject#open} returns until it is
 * closed. The thread that reads the commands has no part in it.
 *
 * <p>Closing it is graceful: no connection is accepted any more, what is under way is finished, the
 * connections are closed, and the port is free.
 */
public interface Serving extends Case {

    /** The server's URL, such as {@code http://127.0.0.1:40123}. */
    URI url();

    /** The threads that run handlers; 0 if the loops run them. */
    int workers();

    /** The threads that wait for connections and requests. */
    int loops();

    @Override
    default Map<String, String> settings() {
        var settings = new LinkedHashMap<String, String>();
        settings.put("url", url().toString());
        settings.put("workers", Integer.toString(workers()));
        settings.put("loops", Integer.toString(loops()));
        return settings;
    }

    /** @throws Refusal always: there are no operations to do */
    @Override
    default Result perform(long operations) throws Refusal {
        throw Refusal.unsupported("this case serves: it has no operations");
    }
}
