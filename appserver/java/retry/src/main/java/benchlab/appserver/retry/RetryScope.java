// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

/**
 * The retried call that the current thread is in, for adapters to containers and frameworks whose
 * transactions begin and end outside of {@link Transactions}.
 */
public final class RetryScope {

    private RetryScope() {}

    /**
     * Returns true if this thread is in an attempt of a retried call. Nested calls must not be
     * retried: they belong to the outermost call.
     *
     * @return true within a retried call
     */
    public static boolean isActive() {
        return RetriedCall.isUnderWay();
    }

    /**
     * Records that a failure ended the transaction of this attempt before its commit, so that even a
     * lost connection cannot have committed anything. Has no effect outside of a retried call.
     *
     * @param failure the failure, which the attempt then throws, itself or as a cause
     */
    public static void noteUncommitted(Throwable failure) {
        RetriedCall.noteUncommitted(failure);
    }
}
