// SPDX-License-Identifier: Apache-2.0
package benchlab.kit;

import java.util.Map;

/**
 * An open case, which does the measured work. {@link Subject#open} opens its connections, prepares
 * its statements and computes its inputs; {@link #close} releases them.
 *
 * <p>Only one thread uses a case: the thread that runs {@link Lab#serve(Subject)}. If a method
 * throws, the reply is {@code error} with the exception's message. Its code is {@code failed}, or
 * the code of the {@link Refusal}. After a failure of {@link #perform}, the case stays open, and
 * its methods may be called again. After a failure of {@link #settings}, the kit closes the case. A
 * case counts as closed even if {@link #close} throws.
 */
public interface Case extends AutoCloseable {

    /**
     * Returns the settings that were read back over the connection that the case measures with, in
     * the order of display. Keys match {@code [a-z][a-z0-9_]*}. Called once, when the case is
     * opened.
     *
     * @return the settings
     * @throws Exception if the settings cannot be read
     */
    default Map<String, String> settings() throws Exception {
        return Map.of();
    }

    /**
     * Does the work {@code operations} times in a loop, starting with the first input. The clock is
     * read immediately before and after this call. A case with concurrent operations uses {@link
     * Workers}.
     *
     * @param operations the number of operations, from 1 to 2<sup>53</sup>
     * @return the result
     * @throws Exception if the work failed
     */
    Result perform(long operations) throws Exception;

    @Override
    void close() throws Exception;
}
