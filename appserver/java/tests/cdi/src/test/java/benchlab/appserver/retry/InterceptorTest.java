// SPDX-License-Identifier: Apache-2.0
// Tests the effect of the interceptors on the transactions of a container.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.transaction.RollbackException;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InterceptorTest {

    private static final int ATTEMPTS = 5;

    private static Application application;
    private static Ledger ledger;
    private static Caller caller;
    private static TransactionManager transactions;

    private int runs;

    @BeforeAll
    static void open() throws Exception {
        application = new Application();
        ledger = application.bean(Ledger.class);
        caller = application.bean(Caller.class);
        transactions = application.bean(TransactionManager.class);
    }

    @AfterAll
    static void close() throws Exception {
        application.close();
    }

    @BeforeEach
    void empty() throws Exception {
        application.database.execute("UPDATE account SET balance = 0");
    }

    private static SQLException serializationFailure() {
        return new SQLException("in conflict", "40001");
    }

    private static SQLException lost() {
        return new SQLException("lost", "08006");
    }

    /** Returns a step that throws in its first run. */
    private Ledger.Step failOnce(Exception failure) {
        return () -> {
            if (++runs == 1) {
                throw failure;
            }
        };
    }

    private void failAlways() {
        runs++;
        throw new StaleVersionException();
    }

    private void refuse(String expected, Ledger.Step call) {
        Exception thrown = assertThrows(IllegalStateException.class, call::run);
        assertTrue(thrown.getMessage().contains(expected), thrown.getMessage());
    }

    @Test
    void eachAttemptHasATransactionOfItsOwn() throws Exception {
        var registry = application.bean(TransactionSynchronizationRegistry.class);
        Set<Object> keys = new HashSet<>();
        assertThrows(
                StaleVersionException.class,
                () ->
                        ledger.add(
                                1,
                                () -> {
                                    keys.add(registry.getTransactionKey());
                                    failAlways();
                                }));
        assertEquals(ATTEMPTS, keys.size());
        assertEquals(0, application.balance());
    }

    /**
     * Checks that a transient error is not committed, although Jakarta Transactions commits after a
     * checked exception.
     */
    @Test
    void whatAFaultEndedIsNotCommitted() throws Exception {
        ledger.add(1, failOnce(serializationFailure()));
        assertEquals(2, runs);
        assertEquals(1, application.balance());
    }

    @Test
    void aConnectionLostBeforeTheCommitIsRetried() throws Exception {
        ledger.add(1, failOnce(lost()));
        assertEquals(2, runs);
        assertEquals(1, application.balance());
    }

    @Test
    void aConnectionLostDuringTheCommitIsNotRetried() throws Exception {
        application.injector.afterNextCommit(
                () -> {
                    throw lost();
                });
        var unknown =
                assertThrows(
                        OutcomeUnknownException.class, () -> ledger.add(1, () -> runs++));
        assertEquals(RollbackException.class, unknown.getCause().getClass()); // It took effect.
        assertEquals(1, runs);
        assertEquals(1, application.balance());
    }

    /**
     * Checks that the known outcome of a nested transaction does not count for the outer
     * transaction.
     */
    @Test
    void norIsOneAfterAPartHasLostItsOwn() throws Exception {
        assertThrows(
                OutcomeUnknownException.class,
                () ->
                        ledger.add(
                                1,
                                () -> {
                                    runs++;
                                    try {
                                        losePart();
                                    } catch (SQLException e) {
                                        application.injector.afterNextCommit(
                                                () -> {
                                                    throw lost();
                                                });
                                    }
                                }));
        assertEquals(1, runs);
        assertEquals(1, application.balance());
    }

    private static void losePart() throws SQLException {
        var parts = new Transactions(application.database::connect);
        parts.run(
                connection -> {
                    throw lost();
                });
    }

    @Test
    void aPermanentFaultIsNotRetried() throws Exception {
        assertThrows(
                SQLException.class,
                () ->
                        ledger.add(
                                1,
                                () -> {
                                    runs++;
                                    ledger.execute("INSERT INTO account VALUES (1, 0)");
                                }));
        assertEquals(1, runs);
    }

    @Test
    void nestedCallsDoNotMultiply() throws Exception {
        assertThrows(
                StaleVersionException.class,
                () -> caller.marked(() -> ledger.add(1, this::failAlways)));
        assertEquals(ATTEMPTS, runs);
    }

    @Test
    void aFaultOfAPartThatIsCaughtIsOneOfTheWhole() throws Exception {
        caller.marked(
                () -> {
                    try {
                        ledger.add(1, failOnce(serializationFailure()));
                    } catch (SQLException e) {
                        assertEquals("40001", e.getSQLState());
                    }
                });
        assertEquals(2, runs);
        assertEquals(1, application.balance());
    }

    @Test
    void aPartWithATransactionOfItsOwnMayFail() throws Exception {
        caller.marked(
                () -> {
                    var conflict = serializationFailure();
                    assertThrows(
                            SQLException.class,
                            () -> ledger.addSeparately(1, failOnce(conflict)));
                });
        assertEquals(1, runs);
        assertEquals(0, application.balance());
    }

    @Test
    void aConnectionLostDuringTheCommitOfAPartIsNotRetried() throws Exception {
        application.injector.afterNextCommit(
                () -> {
                    throw lost();
                });
        assertThrows(
                OutcomeUnknownException.class,
                () -> caller.marked(() -> ledger.addSeparately(1, () -> runs++)));
        assertEquals(1, runs);
        assertEquals(1, application.balance()); // It took effect.
    }

    @Test
    void aConnectionLostBeforeTheCommitOfAPartIsRetried() throws Exception {
        caller.marked(() -> ledger.addSeparately(1, failOnce(lost())));
        assertEquals(2, runs);
        assertEquals(1, application.balance());
    }

    @Test
    void aTransactionThatIsOpenAlreadyIsRefused() throws Exception {
        String expected = "in a transaction that is already open";
        refuse(expected, () -> caller.unmarked(() -> ledger.add(1, () -> runs++)));
        refuse(expected, () -> caller.unmarked(() -> ledger.addSeparately(1, () -> runs++)));
        transactions.begin();
        try {
            refuse(expected, () -> ledger.add(1, () -> runs++));
        } finally {
            transactions.rollback();
        }
        assertEquals(0, runs);
        assertEquals(0, application.balance());
    }

    @Test
    void anAttemptThatLeavesATransactionOpenIsRefused() throws Exception {
        try {
            refuse(
                    "left a transaction open",
                    () ->
                            ledger.withoutTransaction(
                                    () -> {
                                        transactions.begin();
                                        failAlways();
                                    }));
        } finally {
            transactions.rollback();
        }
        assertEquals(1, runs);
    }

    @Test
    void aPolicyThatIsMissingIsRefused() {
        refuse("no policy \"missing\" for", () -> ledger.withMissingPolicy(() -> runs++));
        assertEquals(0, runs);
    }

    @Test
    void theNearestMarkHolds() {
        var marked = application.bean(InheritedMarks.Marked.class);
        assertThrows(StaleVersionException.class, () -> marked.own(this::failAlways));
        assertThrows(StaleVersionException.class, () -> marked.inherited(this::failAlways));
        assertEquals(2, runs);
        assertThrows(StaleVersionException.class, () -> marked.marked(this::failAlways));
        assertEquals(2 + ATTEMPTS, runs);
    }

    @Test
    void anInterceptorInsideSeesTheFirstParameters() throws Exception {
        var doubled = application.bean(DoublingInterceptor.Doubled.class);
        doubled.add(1, failOnce(new StaleVersionException()));
        assertEquals(2, runs);
        assertEquals(2, application.balance());
    }
}
