// SPDX-License-Identifier: Apache-2.0
// One piece of work, opened and ready: what a subject measures.
package benchlab.kit;

import java.util.Map;

/**
 * A case that is open. Connections are made, statements prepared and inputs computed before it
 * exists; closing it releases them.
 *
 * <p>One thread uses it, the one that runs {@link Lab#serve(Subject)}. What a method throws is
 * answered with {@code error code=failed} and the exception's message; the case stays open, and may
 * be asked again.
 */
public interface Case extends AutoCloseable {

    /**
     * The settings read back over the connection that the case measures with, in the order in which
     * they are to be shown. Keys match {@code [a-z][a-z0-9_]*}. Asked once, when the case is opened.
     */
    default Map<String, String> settings() throws Exception {
        return Map.of();
    }

    /**
     * Does the work, {@code operations} times in a loop of its own, from the first input on. The
     * clock is read just before and just after this call. A case that does several operations at
     * once leaves them to {@link Workers}.
     *
     * @param operations from 1 to 2<sup>53</sup>
     */
    Result perform(long operations) throws Exception;

    @Override
    void close() throws Exception;
}
