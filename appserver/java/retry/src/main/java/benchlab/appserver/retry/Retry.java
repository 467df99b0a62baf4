// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import benchlab.appserver.resilience.CircuitBreaker;
import benchlab.appserver.resilience.Timer;
import benchlab.appserver.resilience.Work;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Retries calls after transient errors, so that each call takes effect once.
 *
 * <ul>
 *   <li>Each attempt has its own transaction, so a failed commit is retried, too, and the locks of
 *       a failed attempt are released before the backoff delay. {@link Transactions} determines the
 *       session of each attempt.
 *   <li>If calls are nested on one thread, only the outermost is retried.
 *   <li>A call with an unknown outcome is retried only with an {@link IdempotencyKey}, or if its
 *       policy is repeatable.
 *   <li>An interrupt ends the retries and the delay between them; the interrupt flag stays set.
 *   <li>The exception of the last attempt is thrown, wrapped in an {@link OutcomeUnknownException}
 *       if the outcome is unknown. The exception of each attempt has the exception of the previous
 *       attempt as a suppressed exception. Errors are not caught.
 * </ul>
 */
public final class Retry {

    private Retry() {}

    /** An attempt, which may throw two types of checked exceptions. */
    @FunctionalInterface
    interface Attempt<T extends @Nullable Object, X extends Exception, Y extends Exception> {
        T run() throws X, Y;
    }

    /**
     * Runs work in a transaction, and retries it according to the policy.
     *
     * <p>If this thread already has an open transaction of the same {@link Transactions}, the work
     * becomes part of that transaction and is not retried separately.
     *
     * @param policy the policy
     * @param transactions the transactions
     * @param work the work
     * @param <T> the type of the result
     * @param <X> a checked exception of the work
     * @return the result of the work
     * @throws SQLException the exception of the last attempt
     * @throws X the exception of the last attempt
     * @throws OutcomeUnknownException if the outcome of the last attempt is unknown
     */
    public static <T extends @Nullable Object, X extends Exception> T call(
            Policy policy, Transactions transactions, TransactionWork<T, X> work)
            throws SQLException, X {
        if (transactions.isOpen()) {
            return transactions.run(work);
        }
        return Retry.<T, SQLException, X>run(
                policy, false, () -> transactions.run(work), Timer.SYSTEM);
    }

    /**
     * Runs work that takes effect once for all calls with the same key, in this process or others.
     * The transaction inserts the key and the result into the database. If the key already exists,
     * the first result is returned, and repeated work is undone. A commit with an unknown outcome is
     * therefore retried, too, up to twice as often as other faults.
     *
     * @param policy the policy
     * @param transactions the transactions
     * @param key the key
     * @param work the work
     * @param <T> the type of the result
     * @param <X> a checked exception of the work
     * @return the result of the work
     * @throws SQLException the exception of the last attempt
     * @throws X the exception of the last attempt
     * @throws OutcomeUnknownException if no later attempt could find out whether the work took
     *     effect
     * @throws KeyReusedException if the key was used for another request
     */
    public static <T extends @Nullable Object, X extends Exception> T call(
            Policy policy,
            Transactions transactions,
            IdempotencyKey<T> key,
            TransactionWork<T, X> work)
            throws SQLException, X {
        if (transactions.isOpen()) {
            return transactions.run(connection -> key.once(connection, work));
        }
        return Retry.<T, SQLException, X>run(
                policy, true, () -> new KeyedAttempt<>(key, work).run(transactions), Timer.SYSTEM);
    }

    /**
     * Runs work that begins and commits its own transaction, for example with Jakarta Persistence.
     * If the work loses its connection, it may have been committing. The fault is then {@link
     * Fault#OUTCOME_UNKNOWN}, unless the work uses {@link Transactions}, which can rule that out, or
     * no connection could be established. Use {@link IdempotencyKey#once} and a repeatable policy
     * for such work.
     *
     * @param policy the policy
     * @param work the work
     * @param <T> the type of the result
     * @param <X> a checked exception of the work
     * @return the result of the work
     * @throws X the exception of the last attempt
     * @throws OutcomeUnknownException if the outcome of the last attempt is unknown
     */
    public static <T extends @Nullable Object, X extends Exception> T call(
            Policy policy, Work<T, X> work) throws X {
        return call(policy, work, Timer.SYSTEM);
    }

    static <T extends @Nullable Object, X extends Exception> T call(
            Policy policy, Work<T, X> work, Timer timer) throws X {
        return Retry.<T, X, RuntimeException>run(policy, false, work::run, timer);
    }

    static <T extends @Nullable Object, X extends Exception, Y extends Exception> T run(
            Policy policy, boolean hasKey, Attempt<T, X, Y> work, Timer timer) throws X, Y {
        if (RetriedCall.isUnderWay()) {
            return work.run();
        }
        try (var call = new RetriedCall(policy, hasKey, timer)) {
            while (true) {
                try {
                    T result = attempt(policy.breaker(), work);
                    call.succeed();
                    return result;
                } catch (Exception failure) {
                    if (!call.isToBeRetried(failure)) {
                        call.checkOutcome(failure);
                        throw failure;
                    }
                }
            }
        }
    }

    private static <T extends @Nullable Object, X extends Exception, Y extends Exception> T attempt(
            @Nullable CircuitBreaker breaker, Attempt<T, X, Y> work) throws X, Y {
        if (breaker == null) {
            return work.run();
        }
        Work<T, Exception> both = work::run;
        try {
            return breaker.<T, Exception>call(both);
        } catch (RuntimeException failure) {
            throw failure;
        } catch (Exception failure) {
            throw Retry.<X>unchecked(failure);
        }
    }

    /** Casts the exception of an attempt to its type, which the compiler does not know here. */
    @SuppressWarnings("unchecked")
    private static <X extends Exception> X unchecked(Exception failure) {
        return (X) failure;
    }
}
