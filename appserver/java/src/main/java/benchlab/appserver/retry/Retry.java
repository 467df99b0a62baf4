// SPDX-License-Identifier: Apache-2.0
// Calls that are made again after a fault that passes.
package benchlab.appserver.retry;

import java.sql.SQLException;

/**
 * Makes calls again after a fault that passes, so that they have one effect.
 *
 * <ul>
 *   <li>Each attempt has a transaction of its own, so that what fails at the commit is retried too,
 *       and what the failed attempt's transaction held is gone before the pause. Which session it
 *       has, {@link Transactions} says.
 *   <li>Of calls inside one another, on one thread, only the outermost is made again.
 *   <li>A call whose outcome is unknown is made again only with an {@link IdempotencyKey}, or if
 *       its policy says that it may take effect twice.
 *   <li>An interrupt ends the retries, and the pause between them; the thread keeps its flag.
 *   <li>What the last attempt threw is thrown, as the cause of an {@link OutcomeUnknownException}
 *       if the outcome is unknown. The failure before it is suppressed in it, and in that the one
 *       before. Errors are not caught.
 * </ul>
 */
public final class Retry {

    private Retry() {}

    /** An attempt, which throws two kinds of checked exceptions. */
    @FunctionalInterface
    interface Attempt<T, X extends Exception, Y extends Exception> {
        T run() throws X, Y;
    }

    /**
     * Runs work in a transaction, again and again as the policy says.
     *
     * <p>Inside a transaction of the same {@link Transactions} that this thread has open, the work
     * takes part in that, and is not retried: only who began it can.
     */
    public static <T, X extends Exception> T call(
            Policy policy, Transactions transactions, TransactionWork<T, X> work)
            throws SQLException, X {
        if (transactions.isOpen()) {
            return transactions.run(work);
        }
        return Retry.<T, SQLException, X>run(
                policy, false, () -> transactions.run(work), Timer.SYSTEM);
    }

    /**
     * The same with one effect for all calls with one key, in this process or another: the
     * transaction puts the key and the result into the database; if the key is there already, the
     * first result is returned, and work that was done again is undone. So a commit whose outcome
     * is unknown is retried too, up to twice as often as the policy says for other faults.
     *
     * @throws OutcomeUnknownException if no attempt since could tell whether it took effect
     */
    public static <T, X extends Exception> T call(
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
     * Runs work that makes its own transaction, such as by Jakarta Persistence. If it loses its
     * connection, nobody can tell whether it was committing: that is {@link Fault#OUTCOME_UNKNOWN},
     * unless {@link Transactions} in it knows better, or no connection could be made. Such work has
     * a key by {@link IdempotencyKey#once} and a policy that is repeatable.
     *
     * @throws OutcomeUnknownException if the last attempt's outcome is unknown
     */
    public static <T, X extends Exception> T call(Policy policy, Work<T, X> work) throws X {
        return call(policy, work, Timer.SYSTEM);
    }

    static <T, X extends Exception> T call(Policy policy, Work<T, X> work, Timer timer) throws X {
        return Retry.<T, X, RuntimeException>run(policy, false, work::run, timer);
    }

    static <T, X extends Exception, Y extends Exception> T run(
            Policy policy, boolean hasKey, Attempt<T, X, Y> work, Timer timer) throws X, Y {
        if (RetriedCall.isUnderWay()) {
            return work.run();
        }
        try (var call = new RetriedCall(policy, hasKey, timer)) {
            while (true) {
                try {
                    return work.run();
                } catch (Exception failure) {
                    if (!call.isToBeRetried(failure)) {
                        call.checkOutcome(failure);
                        throw failure;
                    }
                }
            }
        }
    }
}
