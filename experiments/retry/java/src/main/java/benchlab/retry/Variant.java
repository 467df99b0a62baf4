// SPDX-License-Identifier: Apache-2.0
package benchlab.retry;

/**
 * A subject's way to retry calls. The clients of a case share one variant, each in a separate
 * thread.
 */
interface Variant extends AutoCloseable {

    /**
     * Makes a call.
     *
     * @param client the client that calls
     * @param batch the number of the batch
     * @param k the number of the call
     * @throws Exception the exception of the last attempt
     */
    void call(Client client, long batch, long k) throws Exception;

    /** Returns the results of all attempts so far. */
    Statistics statistics();

    @Override
    default void close() throws Exception {}
}
