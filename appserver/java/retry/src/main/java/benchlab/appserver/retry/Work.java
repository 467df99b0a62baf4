// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import org.jspecify.annotations.Nullable;

/**
 * Work that begins and commits its own transaction. It must be a single transaction without any
 * other effects that a rollback does not undo.
 *
 * @param <T> the type of the result
 * @param <X> a checked exception
 */
@FunctionalInterface
public interface Work<T extends @Nullable Object, X extends Exception> {
    /**
     * Runs the work.
     *
     * @return the result
     * @throws X if the work fails
     */
    T run() throws X;
}
