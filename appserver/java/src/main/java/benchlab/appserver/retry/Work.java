// SPDX-License-Identifier: Apache-2.0
// What a call does.
package benchlab.appserver.retry;

/**
 * One transaction, from its begin to its commit, and nothing besides that a rollback does not undo.
 *
 * @param <T> the result
 * @param <X> the checked exception that it throws
 */
@FunctionalInterface
public interface Work<T, X extends Exception> {
    T run() throws X;
}
