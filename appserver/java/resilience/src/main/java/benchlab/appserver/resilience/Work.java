// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import org.jspecify.annotations.Nullable;

/**
 * Work that may fail, and that a guard may run more than once.
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
