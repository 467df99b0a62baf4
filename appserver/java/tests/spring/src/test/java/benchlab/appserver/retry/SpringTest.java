// SPDX-License-Identifier: Apache-2.0
// Tests the effect of the advice on the transactions of Spring.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.retry.spring.EnableRetries;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

class SpringTest {

    private static final int ATTEMPTS = 5;

    private TestDatabase database;
    private FaultInjector injector;
    private GenericApplicationContext context;
    private Ledger ledger;
    private Caller caller;
    private int runs;

    /** A step of a test, inside of a method of a bean. */
    @FunctionalInterface
    interface Step {
        void run() throws Exception;
    }

    static class Ledger {
        private final DataSource source;
        private final JdbcTemplate database;
        private final IdempotencyTable keys = new IdempotencyTable("retry_key");

        Ledger(DataSource source) {
            this.source = source;
            database = new JdbcTemplate(source);
        }

        /** Adds to the account, and then runs the step. */
        @Retried
        @Transactional
        public void add(long amount, Step step) throws Exception {
            database.update("UPDATE account SET balance = balance + ?", amount);
            step.run();
        }

        @Retried("keyed")
        @Transactional
        public String addOnce(String request, long amount) throws SQLException {
            return keys.key(request)
                    .once(
                            DataSourceUtils.getConnection(source),
                            connection -> {
                                database.update("UPDATE account SET balance = balance + ?", amount);
                                return "added";
                            });
        }

        @Retried
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void separately(Step step) throws Exception {
            step.run();
        }

        @Retried
        public void withoutTransaction(Step step) throws Exception {
            step.run();
        }

        @Retried("missing")
        public void withMissingPolicy(Step step) throws Exception {
            step.run();
        }

        /** Fields of a proxy are null, so tests call this method. */
        public Long balance() {
            return database.queryForObject("SELECT balance FROM account", Long.class);
        }

        public void unmarked(Step step) throws Exception {
            step.run();
        }
    }

    @Retried
    static class Caller {
        @Transactional
        public void marked(Step step) throws Exception {
            step.run();
        }
    }

    /** The retries are enabled before the transactions. */
    @Configuration(proxyBeanMethods = false)
    @EnableRetries
    @EnableTransactionManagement
    static class First {}

    /** The retries are enabled after the transactions. */
    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    @EnableRetries
    static class Last {}

    /** Transactions are outside of retries, which is a mistake. */
    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = 0, proxyTargetClass = true)
    @EnableRetries
    static class Wrong {}

    @BeforeEach
    void open() throws Exception {
        database = new TestDatabase.Sqlite();
        database.execute("CREATE TABLE account (balance integer NOT NULL)");
        database.execute("CREATE TABLE retry_key (id text PRIMARY KEY, result text)");
        database.execute("INSERT INTO account VALUES (0)");
        injector = new FaultInjector(database::connect);
        start(Last.class);
    }

    private void start(Class<?> configuration) {
        start(
                configuration,
                Policies.of(
                        Map.of(
                                "", Policy.ofAttempts(ATTEMPTS),
                                "keyed", Policy.ofAttempts(ATTEMPTS).repeatable(true))));
    }

    private void start(Class<?> configuration, Policies policies) {
        close();
        var opened = new AnnotationConfigApplicationContext();
        opened.register(configuration);
        if (policies != null) {
            opened.registerBean(Policies.class, () -> policies);
        }
        opened.registerBean(
                DataSource.class,
                () ->
                        new AbstractDataSource() {
                            @Override
                            public Connection getConnection() throws SQLException {
                                return injector.open();
                            }

                            @Override
                            public Connection getConnection(String user, String password)
                                    throws SQLException {
                                return getConnection();
                            }
                        });
        opened.registerBean(
                PlatformTransactionManager.class,
                () -> new DataSourceTransactionManager(opened.getBean(DataSource.class)));
        opened.registerBean(Ledger.class);
        opened.registerBean(Caller.class);
        opened.refresh();
        context = opened;
        ledger = context.getBean(Ledger.class);
        caller = context.getBean(Caller.class);
    }

    @AfterEach
    void end() throws Exception {
        close();
        database.close();
    }

    private void close() {
        if (context != null) {
            context.close();
        }
    }

    private long balance() throws SQLException {
        return database.number("SELECT balance FROM account");
    }

    private static SQLException serializationFailure() {
        return new SQLException("in conflict", "40001");
    }

    private static SQLException lost() {
        return new SQLException("lost", "08006");
    }

    /** Returns a step that throws in its first run. */
    private Step failOnce(Exception failure) {
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

    @Test
    void eachAttemptHasATransactionOfItsOwn() throws Exception {
        for (Class<?> configuration : List.of(First.class, Last.class)) {
            start(configuration);
            runs = 0;
            List<Long> balances = new ArrayList<>();
            assertThrows(
                    StaleVersionException.class,
                    () ->
                            ledger.add(
                                    1,
                                    () -> {
                                        balances.add(ledger.balance());
                                        failAlways();
                                    }));
            assertEquals(List.of(1L, 1L, 1L, 1L, 1L), balances);
            assertEquals(0, balance());
        }
    }

    /**
     * Checks that a transient error is not committed, although Spring commits after a checked
     * exception.
     */
    @Test
    void whatAFaultEndedIsNotCommitted() throws Exception {
        ledger.add(1, failOnce(serializationFailure()));
        assertEquals(2, runs);
        assertEquals(1, balance());
    }

    @Test
    void aConnectionLostBeforeTheCommitIsRetried() throws Exception {
        ledger.add(1, failOnce(lost()));
        assertEquals(2, runs);
        assertEquals(1, balance());
    }

    @Test
    void aCommitThatFailsIsRetried() throws Exception {
        injector.beforeNextCommit(
                () -> {
                    throw serializationFailure();
                });
        ledger.add(1, () -> runs++);
        assertEquals(2, runs);
        assertEquals(1, balance());
    }

    @Test
    void aConnectionLostDuringTheCommitIsNotRetried() throws Exception {
        injector.afterNextCommit(
                () -> {
                    throw lost();
                });
        assertThrows(OutcomeUnknownException.class, () -> ledger.add(1, () -> runs++));
        assertEquals(1, runs);
        assertEquals(1, balance()); // It took effect.
    }

    @Test
    void withAKeyItIsRetriedAndTakesEffectOnce() throws Exception {
        injector.afterNextCommit(
                () -> {
                    throw lost();
                });
        assertEquals("added", ledger.addOnce("request 1", 1));
        assertEquals(1, balance());
        assertEquals("added", ledger.addOnce("request 1", 1));
        assertEquals(1, balance());
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
        assertEquals(1, balance());
    }

    @Test
    void aPartWithATransactionOfItsOwnMayFail() throws Exception {
        caller.marked(
                () -> {
                    var conflict = serializationFailure();
                    assertThrows(SQLException.class, () -> ledger.separately(failOnce(conflict)));
                    assertTrue(TransactionSynchronizationManager.isActualTransactionActive());
                });
        assertEquals(1, runs);
    }

    /** Checks that no part of a transaction is committed without another part that failed. */
    @Test
    void aFaultOfAPartOfATemplateIsOneOfTheWhole() throws Exception {
        var update = new JdbcTemplate(context.getBean(DataSource.class));
        Step failing = failOnce(serializationFailure());
        ledger.withoutTransaction(
                () ->
                        template()
                                .executeWithoutResult(
                                        status -> {
                                            runQuietly(() -> ledger.withoutTransaction(failing));
                                            update.update("UPDATE account SET balance = balance + 1");
                                        }));
        assertEquals(2, runs);
        assertEquals(1, balance());
    }

    /** Checks that only the open transaction is rolled back, and not the suspended one. */
    @Test
    void aFaultOfATemplateIsNotOneOfTheSuspendedTransaction() throws Exception {
        var separately = template();
        separately.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        var thrown = new ArrayList<Throwable>();
        ledger.add(
                1,
                () -> {
                    // SQLite would block a second writer, so the inner transaction only reads.
                    Step part = () -> ledger.withoutTransaction(failOnce(serializationFailure()));
                    thrown.add(
                            assertThrows(
                                    IllegalStateException.class,
                                    () -> separately.executeWithoutResult(status -> runQuietly(part))));
                });
        assertEquals(1, thrown.size());
        assertEquals(1, runs);
        assertEquals(1, balance());
    }

    /** Checks that the fault of a part is certain only if it does not come from a separate commit. */
    @Test
    void aConnectionLostDuringTheCommitOfAPartIsNotRetried() throws Exception {
        var source = context.getBean(DataSource.class);
        var update = new JdbcTemplate(source);
        long effects = 0;
        for (PlatformTransactionManager manager :
                List.of(new DataSourceTransactionManager(source), new JdbcTransactionManager(source))) {
            var whole = new TransactionTemplate(manager);
            var separately = new TransactionTemplate(manager);
            separately.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
            Step part =
                    () ->
                            separately.executeWithoutResult(
                                    status -> update.update("UPDATE account SET balance = balance + 1"));
            injector.afterNextCommit(
                    () -> {
                        throw lost();
                    });
            assertThrows(
                    OutcomeUnknownException.class,
                    () ->
                            ledger.withoutTransaction(
                                    () ->
                                            whole.executeWithoutResult(
                                                    status -> runUnchecked(() -> ledger.withoutTransaction(part)))));
            assertEquals(++effects, balance());
        }
    }

    @Test
    void aConnectionLostBeforeTheCommitOfAPartIsRetried() throws Exception {
        var separately = template();
        separately.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        Step failing = failOnce(new IllegalStateException(lost()));
        ledger.add(
                1,
                () ->
                        ledger.withoutTransaction(
                                () -> separately.executeWithoutResult(status -> runUnchecked(failing))));
        assertEquals(2, runs);
        assertEquals(1, balance());
    }

    private TransactionTemplate template() {
        return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
    }

    private static void runQuietly(Step step) {
        try {
            step.run();
        } catch (Exception e) {
            // A caller that ignores failures.
        }
    }

    private static void runUnchecked(Step step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void theExampleIsRetried() throws Exception {
        database.execute("DROP TABLE account");
        database.execute("CREATE TABLE account (id integer PRIMARY KEY, balance integer NOT NULL)");
        database.execute("INSERT INTO account VALUES (1, 0)");
        start(ShopExample.ShopConfiguration.class, null);
        context.registerBean(JdbcTemplate.class, () -> new JdbcTemplate(context.getBean(DataSource.class)));
        context.registerBean(ShopExample.Shop.class);
        injector.beforeNextCommit(
                () -> {
                    throw serializationFailure();
                });
        context.getBean(ShopExample.Shop.class).add(1, 7);
        assertEquals(7, balance());
    }

    @Test
    void aCallInAnOpenTransactionIsRejected() throws Exception {
        start(Wrong.class);
        var thrown = assertThrows(IllegalStateException.class, () -> ledger.add(1, () -> runs++));
        assertTrue(thrown.getMessage().contains("is called in a transaction that is already open"), thrown.getMessage());
        assertEquals(0, runs);
        assertEquals(0, balance());
    }

    @Test
    void aMethodNeedsNoTransaction() throws Exception {
        ledger.withoutTransaction(failOnce(serializationFailure()));
        assertEquals(2, runs);
        var failure = assertThrows(SQLException.class, () -> ledger.unmarked(() -> {
            throw serializationFailure();
        }));
        assertEquals("40001", failure.getSQLState());
    }

    @Test
    void aMissingPolicyIsReported() {
        var thrown = assertThrows(IllegalStateException.class, () -> ledger.withMissingPolicy(() -> runs++));
        assertTrue(thrown.getMessage().startsWith("no policy \"missing\" for "), thrown.getMessage());
        start(First.class, null);
        assertThrows(NoSuchBeanDefinitionException.class, () -> ledger.withoutTransaction(() -> runs++));
        assertEquals(0, runs);
    }

    @Test
    void errorsAreNotRetried() {
        assertThrows(
                StackOverflowError.class,
                () ->
                        ledger.add(
                                1,
                                () -> {
                                    runs++;
                                    throw new StackOverflowError();
                                }));
        assertEquals(1, runs);
        assertFalse(TransactionSynchronizationManager.isActualTransactionActive());
    }
}
