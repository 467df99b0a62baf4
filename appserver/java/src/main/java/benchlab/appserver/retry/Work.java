// SPDX-License-Identifier: Apache-2.0
// Work that makes its own transaction.
package benchlab.appserver.retry;

/**
 * One transaction, from its begin to its commit, without any other effect that a rollback does not
 * undo.
 *
 * @param <T> the type of the result
 * @param <X> a checked exception
 */
@FunctionalInterface
public interface Work<T, X extends Exception> {
    /**
     * Runs the work.
     *
     * @return the result
     * @throws X if the work fails
     */
    T run() throws X;
}
