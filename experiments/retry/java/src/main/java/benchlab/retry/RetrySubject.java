// SPDX-License-Identifier: Apache-2.0
package benchlab.retry;

import benchlab.appserver.resilience.Budget;
import benchlab.appserver.resilience.CircuitBreaker;
import benchlab.kit.Arguments;
import benchlab.kit.Case;
import benchlab.kit.Lab;
import benchlab.kit.Sequence;
import benchlab.kit.Subject;
import benchlab.sql.Database;
import java.sql.SQLException;
import java.util.concurrent.Callable;

/**
 * The retry experiment in Java: retries after transient errors, with the same drivers.
 *
 * @param name the name of the subject in the experiment
 * @param library the retry library and the driver, with their versions
 * @param target the database
 * @param opener creates the variant for a case
 */
public record RetrySubject(String name, String library, Target target, Opener opener)
        implements Subject {

    private static final int CLIENTS_MAX = 256;
    private static final String OURS = "benchlab.appserver.retry 1, ";

    /** Creates a variant that works on a database. */
    @FunctionalInterface
    interface Opener {
        Variant open(Database database) throws SQLException;
    }

    /**
     * Runs the subject.
     *
     * @param arguments the subject's name, and the target: {@code sqlite}, {@code postgresql} or
     *     {@code mariadb}
     * @throws Exception if a stream fails
     */
    public static void main(String[] arguments) throws Exception {
        String name = arguments[0];
        Target target = Target.named(arguments[1], name);
        String driver = target.sql().library();
        Lab.serve(
                switch (name) {
                    case "no_retry" -> new RetrySubject(
                            name, driver, target, database -> new JdbcVariant(Callable::call));
                    case "classic" -> new RetrySubject(
                            name, driver, target, database -> new JdbcVariant(Classic::call));
                    case "classic_key" -> new RetrySubject(
                            name,
                            driver,
                            target,
                            database ->
                                    new JdbcVariant(Classic::call, new KeyTable(database, target)));
                    case "java" -> new RetrySubject(
                            name, OURS + driver, target, database -> keyed(database, target, null, null));
                    case "java_budget" -> new RetrySubject(
                            name,
                            OURS + driver,
                            target,
                            database -> keyed(database, target, new Budget(0.1, 20), null));
                    case "java_breaker" -> new RetrySubject(
                            name,
                            OURS + driver,
                            target,
                            database -> keyed(database, target, null, Breakers.own()));
                    case "resilience4j" -> new RetrySubject(
                            name,
                            Resilience4j.library() + ", " + driver,
                            target,
                            database -> Resilience4j.variant());
                    case "resilience4j_breaker" -> new RetrySubject(
                            name,
                            Resilience4j.library() + ", " + driver,
                            target,
                            database -> Resilience4j.breakerVariant());
                    case "failsafe" -> new RetrySubject(
                            name,
                            FailsafeRetry.library() + ", " + driver,
                            target,
                            database -> FailsafeRetry.variant());
                    case "smallrye" -> new RetrySubject(
                            name,
                            SmallRye.library() + ", " + driver,
                            target,
                            database -> SmallRye.variant());
                    default -> throw new IllegalArgumentException(name);
                });
    }

    private static Variant keyed(
            Database database, Target target, Budget budget, CircuitBreaker breaker)
            throws SQLException {
        return new KeyedVariant(new KeyTable(database, target), budget, breaker);
    }

    @Override
    public Case open(String name, Arguments arguments) throws Exception {
        Call call = Call.named(name);
        int clients = (int) arguments.integer("clients", 1, CLIENTS_MAX);
        long rate = arguments.rate();
        Sequence inputs = arguments.sequence();
        Database database = target.sql().opener().open(arguments, true);
        return new RetryCase(opener.open(database), database, call, inputs, clients, rate);
    }
}
