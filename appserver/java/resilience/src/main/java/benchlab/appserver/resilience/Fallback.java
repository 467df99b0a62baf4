// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the failure of a call with another result, such as a cached or an empty result. A
 * fallback is always outermost, around the other guards:
 *
 * <pre>{@code
 * String price = Fallback.to(failure -> "unknown").call(guard, () -> fetchPrice(article));
 * }</pre>
 *
 * <p>Errors are not replaced. An exception of the replacement is thrown, with the failure of the call
 * as a suppressed exception. The replacement may throw the failure itself. If the failure is an {@link
 * InterruptedException}, the interrupt flag is set after the replacement.
 *
 * @param <T> the type of the result
 */
public final class Fallback<T extends @Nullable Object> {

    private final Function<? super Exception, ? extends T> replacement;
    private final Predicate<? super Exception> isReplaced;

    private Fallback(
            Function<? super Exception, ? extends T> replacement,
            Predicate<? super Exception> isReplaced) {
        this.replacement = Objects.requireNonNull(replacement, "replacement");
        this.isReplaced = Objects.requireNonNull(isReplaced, "isReplaced");
    }

    /**
     * Creates a fallback for all exceptions.
     *
     * @param replacement computes the result from the failure; it should not call the failed
     *     service
     * @param <T> the type of the result
     * @return the fallback
     */
    public static <T extends @Nullable Object> Fallback<T> to(
            Function<? super Exception, ? extends T> replacement) {
        return new Fallback<>(replacement, failure -> true);
    }

    /**
     * Returns a copy that replaces only some exceptions and throws the others.
     *
     * @param which tests whether the exception of a call is replaced
     * @return the fallback
     */
    public Fallback<T> when(Predicate<? super Exception> which) {
        return new Fallback<>(replacement, which);
    }

    /**
     * Runs work in a guard, and replaces its failure.
     *
     * @param guard the guard, for example a combination of all other guards
     * @param work the work
     * @param <X> a checked exception of the work
     * @return the result of the work, or its replacement
     * @throws X if the work fails with an exception that is not replaced
     */
    public <X extends Exception> T call(Guard guard, Work<T, X> work) throws X {
        try {
            return guard.<T, X>call(work);
        } catch (Exception failure) {
            if (!isReplaced.test(failure)) {
                throw failure;
            }
            try {
                return replacement.apply(failure);
            } catch (RuntimeException e) {
                if (e != failure) {
                    e.addSuppressed(failure);
                }
                throw e;
            } finally {
                if (failure instanceof InterruptedException) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }
}
