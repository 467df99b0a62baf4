// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import static benchlab.appserver.retry.TestDatabase.number;
import static benchlab.appserver.retry.TestDatabase.update;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.resilience.Backoff;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A call with nested transactions that fails at chosen points. Implements the situations in {@code
 * ada/tests/shared/retry_situations.txt}, as {@code Retried_Fault_Tests} of the Ada library does.
 */
final class Situations implements AutoCloseable {

    /** The kind of the outermost transaction. */
    enum Mode {
        PLAIN,
        KEYED,
        BY_HAND
    }

    enum Failure {
        LOST("08006"),
        DEADLOCK("40P01"),
        PERMANENT("23514");

        final String state;

        Failure(String state) {
            this.state = state;
        }
    }

    /** The outcome of a call, and the count of each effect. */
    record Effects(String outcome, long own, long part, long other, long otherKey) {
        @Override
        public String toString() {
            return "%s %d %d %d %d".formatted(outcome, own, part, other, otherKey);
        }
    }

    private static final IdempotencyTable KEYS = new IdempotencyTable("retry_key");
    private static final Map<Fault, String> OUTCOMES =
            Map.of(
                    Fault.OUTCOME_UNKNOWN, "unknown",
                    Fault.CONNECTION_LOST, "lost",
                    Fault.DEADLOCK, "deadlock",
                    Fault.PERMANENT, "permanent");

    private final TestDatabase outer;
    private final TestDatabase inner = new TestDatabase.Sqlite();
    private final Connection outerSight;
    private final Connection innerSight;
    private final KeptConnections outerConnections;
    private final KeptConnections innerConnections;
    private final FaultInjector outerCommits;
    private final Transactions outerTransactions;
    private final Transactions innerTransactions;
    private final Policy policy;
    private Supplier<Failure> failures = () -> null; // The failure at the next point; null for none.
    private int passed; // The points passed since the call began.

    Situations(TestDatabase outer) throws SQLException {
        this.outer = outer;
        outer.execute("CREATE TABLE t (id integer PRIMARY KEY, x integer)");
        outer.execute("INSERT INTO t VALUES (1, 0), (2, 0)");
        inner.execute("CREATE TABLE u (id integer PRIMARY KEY, x integer)");
        inner.execute("INSERT INTO u VALUES (1, 0), (2, 0)");
        inner.execute("CREATE TABLE retry_key (id varchar(255) PRIMARY KEY, result text)");
        outerSight = outer.connect();
        innerSight = inner.connect();
        outerConnections = new KeptConnections(outer::connect);
        innerConnections = new KeptConnections(inner::connect);
        outerCommits = stopped(outerConnections);
        outerTransactions = new Transactions(outerCommits);
        innerTransactions = new Transactions(stopped(innerConnections));
        Policy usual = Policy.ofAttempts(3).deadline(DatabaseTest.LONG);
        for (Fault fault : usual.backoffs().keySet()) {
            usual = usual.backoff(fault, Backoff.NONE);
        }
        policy = usual;
    }

    /** Returns a source whose transactions can fail at two points: before and after each commit. */
    private FaultInjector stopped(Transactions.Source source) {
        var commits = new FaultInjector(source);
        commits.beforeNextCommit(() -> passAgain(() -> stopBefore(commits), this::pass));
        commits.afterNextCommit(() -> passAgain(() -> stopAfter(commits), this::passCommitted));
        return commits;
    }

    private void stopBefore(FaultInjector commits) {
        commits.beforeNextCommit(() -> passAgain(() -> stopBefore(commits), this::pass));
    }

    private void stopAfter(FaultInjector commits) {
        commits.afterNextCommit(() -> passAgain(() -> stopAfter(commits), this::passCommitted));
    }

    private static void passAgain(Runnable stopAgain, FaultInjector.Action pass)
            throws SQLException {
        stopAgain.run();
        pass.run();
    }

    private void pass() throws SQLException {
        passed++;
        Failure failure = failures.get();
        if (failure != null) {
            throw new SQLException("injected", failure.state);
        }
    }

    /**
     * Passes the point after a commit, where the only possible failure is the loss of the response.
     */
    private void passCommitted() throws SQLException {
        passed++;
        if (failures.get() != null) {
            throw new SQLException("injected", Failure.LOST.state);
        }
    }

    /** Returns the number of points that the call has passed. */
    int passed() {
        return passed;
    }

    void clear() throws SQLException {
        update(outerSight, "UPDATE t SET x = 0");
        update(outerSight, "DELETE FROM retry_key");
        update(innerSight, "UPDATE u SET x = 0");
        update(innerSight, "DELETE FROM retry_key");
    }

    /** Runs a call and returns its effects. */
    Effects effects(Mode mode, String program, Supplier<Failure> failures) throws SQLException {
        this.failures = failures;
        passed = 0;
        String outcome;
        try {
            call(mode, program);
            outcome = "done";
        } catch (SQLException | RuntimeException e) {
            outcome = OUTCOMES.getOrDefault(Faults.of(e), e.toString());
        }
        return new Effects(
                outcome,
                number(outerSight, "SELECT x FROM t WHERE id = 1"),
                number(outerSight, "SELECT x FROM t WHERE id = 2"),
                number(innerSight, "SELECT x FROM u WHERE id = 1"),
                number(innerSight, "SELECT x FROM u WHERE id = 2"));
    }

    private void call(Mode mode, String program) throws SQLException {
        switch (mode) {
            case PLAIN -> Retry.call(policy, outerTransactions, open -> run(open, program));
            case KEYED ->
                    Retry.call(
                            policy, outerTransactions, KEYS.key("call"), open -> run(open, program));
            case BY_HAND -> Retry.call(policy, () -> runByHand(program));
        }
    }

    private String run(Connection open, String program) throws SQLException {
        for (int step = 0; step < program.length(); step++) {
            try {
                step(open, program.charAt(step), step);
            } catch (SQLException | RuntimeException e) {
                if (!Character.isUpperCase(program.charAt(step))) {
                    throw e;
                }
            }
        }
        return "";
    }

    private String runByHand(String program) throws SQLException {
        try (Connection connection = outerCommits.open()) {
            connection.setAutoCommit(false);
            try {
                run(connection, program);
                connection.commit();
            } catch (SQLException | RuntimeException e) {
                connection.rollback();
                throw e;
            }
        }
        return "";
    }

    private void step(Connection open, char letter, int step) throws SQLException {
        switch (letter) {
            case 'a' -> change(open, "t", 1);
            case 'p', 'P' ->
                    Retry.call(policy, outerTransactions, part -> change(part, "t", 2));
            case 'b', 'B' ->
                    Retry.call(policy, innerTransactions, other -> change(other, "u", 1));
            default ->
                    Retry.call(
                            policy,
                            innerTransactions,
                            KEYS.key("step " + step),
                            other -> change(other, "u", 2));
        }
    }

    private String change(Connection connection, String table, int id) throws SQLException {
        pass();
        update(connection, "UPDATE " + table + " SET x = x + 1 WHERE id = " + id);
        return "";
    }

    /**
     * Checks that no effect is duplicated, that a successful call has all of its effects, and that a
     * failed call has none of its own effects.
     */
    static void checkBalance(Mode mode, String program, Effects found, String words) {
        boolean isDone = found.outcome.equals("done");
        checkEffect(found.own, program, 'a', isDone, words);
        checkEffect(found.part, program, 'p', isDone, words);
        checkEffect(found.otherKey, program, 'k', isDone, words);
        if (mode != Mode.BY_HAND) {
            checkEffect(found.other, program, 'b', isDone, words);
        }
        if (!isDone && !found.outcome.equals("unknown")) {
            assertEquals(0, found.own + found.part, "failed, but has taken effect: " + words);
        }
    }

    private static void checkEffect(
            long value, String program, char letter, boolean isDone, String words) {
        long sure = count(program, letter);
        assertTrue(
                value <= sure + count(program, Character.toUpperCase(letter)),
                letter + " took effect twice: " + words);
        assertTrue(!isDone || value >= sure, letter + " is missing: " + words);
    }

    static long count(String program, char letter) {
        return program.chars().filter(each -> each == letter).count();
    }

    @Override
    public void close() throws SQLException {
        outerSight.close();
        innerSight.close();
        outerConnections.close();
        innerConnections.close();
        inner.close();
        outer.execute("DROP TABLE t");
    }
}
