// SPDX-License-Identifier: Apache-2.0
// A way to call and to retry.
package benchlab.retry;

/** The retry of a subject. The clients of a case share one, each with a thread of its own. */
interface Variant extends AutoCloseable {

    /**
     * Makes a call.
     *
     * @throws Exception what ended its last attempt
     */
    void call(Client client, long batch, long k) throws Exception;

    /** What became of all attempts so far. */
    Statistics statistics();

    @Override
    default void close() throws Exception {}
}
