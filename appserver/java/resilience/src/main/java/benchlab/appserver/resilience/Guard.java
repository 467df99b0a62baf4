// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import org.jspecify.annotations.Nullable;

/**
 * Decides whether, when and how often a call runs. Guards are thread-safe. All calls to one service
 * should share its guards:
 *
 * <pre>{@code
 * Guard prices = Guard.of(retries, breaker, bulkhead);
 * …
 * String price = prices.call(() -> fetchPrice(article));
 * }</pre>
 */
public interface Guard {

    /**
     * Runs work.
     *
     * @param work the work
     * @param <T> the type of the result
     * @param <X> a checked exception of the work
     * @return the result of the work
     * @throws X if the work fails
     * @throws GuardException if this guard ends the call
     */
    <T extends @Nullable Object, X extends Exception> T call(Work<T, X> work) throws X;

    /**
     * Combines this guard with another guard, which is nested inside of it.
     *
     * @param inner the other guard
     * @return the combination
     */
    default Guard around(Guard inner) {
        Guard outer = this;
        return new Guard() {
            @Override
            public <T extends @Nullable Object, X extends Exception> T call(Work<T, X> work)
                    throws X {
                return outer.<T, X>call(() -> inner.<T, X>call(work));
            }
        };
    }

    /**
     * Combines guards. The usual order is: retries, circuit breaker, time limiter, bulkhead. The
     * circuit breaker then counts each attempt, and each attempt has its own time limit.
     *
     * @param outermost the guard that is called first
     * @param inner the others, from the outside to the inside
     * @return the combination
     */
    static Guard of(Guard outermost, Guard... inner) {
        Guard all = outermost;
        for (Guard each : inner) {
            all = all.around(each);
        }
        return all;
    }
}
