// SPDX-License-Identifier: Apache-2.0
// Tests the effect of the interceptors on the transactions of EJBs.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.ejb.EJBException;
import jakarta.ejb.embeddable.EJBContainer;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EjbTest {

    private static final int ATTEMPTS = 5;

    private static final List<Connection> opened = new ArrayList<>();

    private static TestDatabase database;
    private static FaultInjector injector;
    private static EJBContainer container;

    @Inject private PaymentsExample payments;
    @Inject private Ledger ledger;
    @Inject private Callers.OfCdi cdi;
    @Inject private Callers.Supporting supporting;
    @Inject private Callers.BeanManaged beanManaged;

    private int runs;

    /** Creates a database with one account, whose ID is 1. */
    @BeforeAll
    static void open() throws Exception {
        database = new TestDatabase.Sqlite();
        database.execute("CREATE TABLE account (id integer PRIMARY KEY, balance integer NOT NULL)");
        database.execute("INSERT INTO account VALUES (1, 0)");
        database.execute("CREATE TABLE retry_key (id text PRIMARY KEY, result text)");
        injector = new FaultInjector(EjbTest::connect);
        InterleavedDriver.use(injector);
        container =
                EJBContainer.createEJBContainer(
                        Map.of(
                                "database", "new://Resource?type=DataSource",
                                "database.JdbcDriver", InterleavedDriver.class.getName(),
                                "database.JdbcUrl", InterleavedDriver.URL,
                                "openejb.deployments.classpath.include", ".*appserver.*"));
    }

    private static Connection connect() throws SQLException {
        Connection connection = database.connect();
        opened.add(connection);
        return connection;
    }

    @AfterAll
    static void close() throws Exception {
        container.close();
        database.close();
    }

    @BeforeEach
    void inject() throws Exception {
        container.getContext().bind("inject", this);
        database.execute("UPDATE account SET balance = 0");
    }

    private static long balance() throws SQLException {
        return database.number("SELECT balance FROM account");
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
        Exception thrown = assertThrows(EJBException.class, call::run);
        Throwable cause = thrown;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        assertEquals(IllegalStateException.class, cause.getClass());
        assertTrue(cause.getMessage().contains(expected), cause.getMessage());
    }

    /** Rolls back before it reports the failure, as a server does. */
    private static void refuseCommit() throws SQLException {
        for (Connection connection : opened) {
            if (!connection.isClosed() && !connection.getAutoCommit()) {
                connection.rollback();
            }
        }
        throw new SQLException("in conflict", "40001");
    }

    @Test
    void theExamplesCommitIsRetried() throws Exception {
        injector.beforeNextCommit(EjbTest::refuseCommit);
        payments.pay(1, 5);
        assertEquals(5, balance());
    }

    @Test
    void aCommitOfTheEjbThatACdiBeanCallsIsRetried() throws Exception {
        injector.beforeNextCommit(EjbTest::refuseCommit);
        cdi.call(() -> ledger.add(1, () -> runs++));
        assertEquals(2, runs);
        assertEquals(1, balance());
    }

    @Test
    void anEjbCalledByACdiBeanIsRetried() throws Exception {
        cdi.call(() -> ledger.add(1, failOnce(new StaleVersionException())));
        assertEquals(2, runs);
        assertEquals(1, balance());
    }

    @Test
    void anEjbThatBeginsItsTransactionsIsRetried() throws Exception {
        beanManaged.call(() -> ledger.add(1, failOnce(new StaleVersionException())));
        assertEquals(2, runs);
        assertEquals(1, balance());
    }

    /**
     * Checks that a transient error rolls back the transaction, although EJB commits after a checked
     * exception.
     */
    @Test
    void whatAFaultEndedIsNotCommitted() throws Exception {
        supporting.call(() -> ledger.add(1, failOnce(new SQLException("in conflict", "40001"))));
        assertEquals(2, runs);
        assertEquals(1, balance());
    }

    @Test
    void aConnectionLostBeforeTheCommitIsRetried() throws Exception {
        supporting.call(() -> ledger.add(1, failOnce(lost())));
        assertEquals(2, runs);
        assertEquals(1, balance());
    }

    @Test
    void aConnectionLostDuringTheCommitIsNotRetried() throws Exception {
        injector.afterNextCommit(
                () -> {
                    throw lost();
                });
        Exception thrown =
                assertThrows(
                        EJBException.class,
                        () -> supporting.call(() -> ledger.add(1, () -> runs++)));
        assertEquals(OutcomeUnknownException.class, thrown.getCause().getClass());
        assertEquals(1, runs);
        assertEquals(1, balance());
    }

    @Test
    void aCommitOfACdiBeanThatIsLostIsUnknown() {
        injector.afterNextCommit(
                () -> {
                    throw lost();
                });
        assertThrows(
                OutcomeUnknownException.class, () -> cdi.call(() -> ledger.add(1, () -> runs++)));
        assertEquals(1, runs);
    }

    /** Checks that the retry finds the key. */
    @Test
    void withAKeyALostAnswerLeavesOneEffect() throws Exception {
        injector.afterNextCommit(
                () -> {
                    throw lost();
                });
        cdi.callKeyed(
                () -> {
                    runs++;
                    ledger.addOnce("request 1", 1);
                });
        assertEquals(2, runs);
        assertEquals(1, balance());
    }

    @Test
    void aPermanentFaultIsNotRetried() throws Exception {
        assertThrows(
                SQLException.class,
                () ->
                        supporting.call(
                                () ->
                                        ledger.add(
                                                1,
                                                () -> {
                                                    runs++;
                                                    ledger.execute(
                                                            "INSERT INTO account VALUES (1, 0)");
                                                })));
        assertEquals(1, runs);
    }

    @Test
    void nestedCallsDoNotMultiply() throws Exception {
        assertThrows(
                EJBException.class,
                () ->
                        cdi.call(
                                () ->
                                        supporting.call(
                                                () -> ledger.add(1, this::failAlways))));
        assertEquals(ATTEMPTS, runs);
        assertEquals(0, balance());
    }

    @Test
    void aTransactionOfTheContainerIsRefused() throws Exception {
        refuse("in a transaction that is already open", () -> ledger.add(1, () -> runs++));
        assertEquals(0, runs);
        assertEquals(0, balance());
    }

    @Test
    void aTransactionOfTheCallerIsRefused() throws Exception {
        refuse(
                "in a transaction that is already open",
                () -> supporting.unmarked(() -> payments.pay(1, 5)));
        assertEquals(0, balance());
    }

    @Test
    void anAttemptThatLeavesATransactionOpenIsRefused() {
        assertThrows(EJBException.class, () -> beanManaged.leaveOpen(this::failAlways));
        assertEquals(1, runs);
    }
}
