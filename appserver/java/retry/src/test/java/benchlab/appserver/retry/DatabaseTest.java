// SPDX-License-Identifier: Apache-2.0
// Checks that each call takes effect once, on each database, with real database faults.
package benchlab.appserver.retry;

import static benchlab.appserver.retry.TestDatabase.number;
import static benchlab.appserver.retry.TestDatabase.update;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import benchlab.appserver.Stress;
import benchlab.appserver.resilience.Work;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
abstract class DatabaseTest {

    private static final Path SITUATIONS =
            Path.of("src/test/data/retry_situations.txt");

    static final IdempotencyTable KEYS = new IdempotencyTable("retry_key");

    /** A time that no call takes, even on a busy machine, unless it hangs. */
    static final Duration LONG = Duration.ofMinutes(5);

    final RetryMetrics metrics = new RetryMetrics();
    final Policy policy = Policy.ofAttempts(3).deadline(LONG).metrics(metrics);
    TestDatabase database;
    FaultInjector injector;
    Transactions transactions;

    abstract TestDatabase open() throws SQLException;

    @BeforeEach
    void makeTables() throws SQLException {
        database = open();
        database.execute(
                "CREATE TABLE account (id integer PRIMARY KEY, balance integer, version integer)");
        database.execute("INSERT INTO account VALUES (1, 100, 1), (2, 100, 1)");
        database.execute(
                "CREATE TABLE retry_key (id %s PRIMARY KEY, result text, CHECK (id <> ''))"
                        .formatted(database.keyType()));
        injector = new FaultInjector(database::connect);
        transactions = new Transactions(injector);
    }

    @AfterEach
    void dropTables() throws SQLException {
        database.close();
    }

    static void add(Connection connection, int account, int amount) throws SQLException {
        update(
                connection,
                "UPDATE account SET balance = balance + %d WHERE id = %d"
                        .formatted(amount, account));
    }

    long balance(int account) throws SQLException {
        return database.number("SELECT balance FROM account WHERE id = " + account);
    }

    long faults(Fault fault) {
        return metrics.statistics().faults().get(fault);
    }

    private Long addVersioned(long version, long balance) throws SQLException {
        return transactions.run(
                connection -> {
                    try (PreparedStatement statement =
                            connection.prepareStatement(
                                    "UPDATE account SET balance = ?, version = version + 1"
                                            + " WHERE id = 1 AND version = ?")) {
                        statement.setLong(1, balance);
                        statement.setLong(2, version);
                        Versions.executeVersioned(statement);
                    }
                    return balance;
                });
    }

    /**
     * Reads a record in one transaction and changes it in another one, as an interactive user does.
     */
    private Long edit() throws SQLException {
        long[] read =
                transactions.run(
                        connection ->
                                new long[] {
                                    number(connection, "SELECT version FROM account WHERE id = 1"),
                                    number(connection, "SELECT balance FROM account WHERE id = 1")
                                });
        return addVersioned(read[0], read[1] + 5);
    }

    /** Checks that a call that is repeated with its key finds out the outcome of the first call. */
    private static void checkAgain(Situations situations, String program, String words)
            throws SQLException {
        Situations.Effects found = situations.effects(Situations.Mode.KEYED, program, () -> null);
        assertEquals("done", found.outcome(), words);
        var withoutOther =
                new Situations.Effects(
                        "done",
                        found.own(),
                        found.part(),
                        Situations.count(program, 'b'), // Without a key, effects may be duplicated.
                        found.otherKey());
        Situations.checkBalance(Situations.Mode.KEYED, program, withoutOther, "again: " + words);
    }

    /** Checks each line of retry_situations.txt, which also documents its columns. */
    @Test
    @Timeout(3_600)
    void aFaultAtAnyPointHasTheOutcomeOfEveryDatabase() throws Exception {
        try (var situations = new Situations(database)) {
            for (String line : Files.readAllLines(SITUATIONS)) {
                if (!line.isEmpty() && !line.startsWith("#")) {
                    checkSituation(situations, line);
                }
            }
        }
    }

    private static void checkSituation(Situations situations, String line) throws SQLException {
        String[] words = line.split(" ", 5);
        var mode = Situations.Mode.valueOf(words[0].toUpperCase(Locale.ROOT));
        int point = Integer.parseInt(words[2]);
        var failure = Situations.Failure.valueOf(words[3].toUpperCase(Locale.ROOT));
        situations.clear();
        var found =
                situations.effects(
                        mode, words[1], () -> situations.passed() == point ? failure : null);
        Situations.checkBalance(mode, words[1], found, line);
        assertEquals(words[4], found.toString(), line);
        if (mode == Situations.Mode.KEYED) {
            checkAgain(situations, words[1], line);
        }
    }

    /** Runs random schedules of faults, which are the same in each run. */
    @Test
    @Timeout(3_600)
    void randomSchedulesOfFaultsLeaveTheBalanceRight() throws Exception {
        var random = new Random(1);
        String told = System.getenv("LAB_SCHEDULES");
        int count = told == null ? schedules() : Integer.parseInt(told);
        try (var situations = new Situations(database)) {
            for (int schedule = 0; schedule < count; schedule++) {
                checkSchedule(situations, random, "schedule " + schedule);
            }
        }
    }

    private static void checkSchedule(Situations situations, Random random, String name)
            throws SQLException {
        var mode = Situations.Mode.values()[random.nextInt(3)];
        String program = program(mode, random);
        int[] faults = {0};
        situations.clear();
        var found =
                situations.effects(
                        mode,
                        program,
                        () ->
                                faults[0] < 4 && random.nextInt(4) == 0 && ++faults[0] > 0
                                        ? Situations.Failure.values()[random.nextInt(3)]
                                        : null);
        String words = "%s: %s %s %s".formatted(name, mode, program, found);
        Situations.checkBalance(mode, program, found, words);
        if (mode == Situations.Mode.KEYED && program.indexOf('b') + program.indexOf('B') < -1) {
            checkAgain(situations, program, words);
        }
    }

    /**
     * Returns the letters of one to four random steps of a call. Mode BY_HAND has no nested
     * transactions without a key, because these may be repeated.
     */
    private static String program(Situations.Mode mode, Random random) {
        String letters = mode == Situations.Mode.BY_HAND ? "aakK" : "aapPbBkK";
        return random.ints(1 + random.nextInt(4), 0, letters.length())
                .mapToObj(each -> letters.substring(each, each + 1))
                .collect(Collectors.joining());
    }

    /**
     * Returns the default number of random schedules; the environment variable {@code
     * LAB_SCHEDULES} overrides it.
     */
    int schedules() {
        return 1_000;
    }

    @Test
    void aStaleVersionIsReadAgain() throws Exception {
        injector.beforeNextCommit(
                () ->
                        database.execute(
                                "UPDATE account SET balance = 200, version = 2 WHERE id = 1"));
        assertEquals(205, Retry.call(policy, this::edit).longValue());
        assertEquals(205, balance(1));
        assertEquals(1, faults(Fault.STALE_VERSION));
        assertEquals(1, metrics.statistics().retries());
    }

    @Test
    void aRecordThatIsGoneStaysStale() throws Exception {
        database.execute("DELETE FROM account WHERE id = 1");
        assertThrows(
                StaleVersionException.class,
                () -> Retry.call(policy, () -> addVersioned(1, 5)));
        assertEquals(3, faults(Fault.STALE_VERSION));
    }

    @Test
    void aConnectionLostBeforeTheCommitLeavesOneEffect() throws Exception {
        injector.beforeNextCommit(DatabaseTest::lose);
        assertEquals("101", addOnce("order 1"));
        assertOneEffect();
    }

    @Test
    void anAnswerLostAfterTheCommitLeavesOneEffect() throws Exception {
        injector.afterNextCommit(DatabaseTest::lose);
        var runs = new AtomicInteger();
        var result =
                Retry.call(
                        policy,
                        transactions,
                        KEYS.key("order 1"),
                        connection -> {
                            runs.incrementAndGet();
                            return addOne(connection);
                        });
        assertEquals("101", result);
        assertEquals(1, runs.get()); // The retry finds the key before it runs the work.
        assertOneEffect();
    }

    private void assertOneEffect() throws SQLException {
        assertEquals(101, balance(1));
        assertEquals(1, faults(Fault.OUTCOME_UNKNOWN));
        assertEquals(1, metrics.statistics().retries());
        assertEquals(1, database.number("SELECT count(*) FROM retry_key"));
    }

    @Test
    void theLastAttemptsOutcomeIsFoundOutToo() throws Exception {
        injector.afterNextCommit(DatabaseTest::lose);
        assertEquals("101", addOnce(Policy.ofAttempts(1).metrics(metrics), "order 1"));
        assertOneEffect();
    }

    @Test
    void aKeyOfWorkWithItsOwnTransactionLeavesOneEffect() throws Exception {
        injector.afterNextCommit(DatabaseTest::lose);
        assertEquals("101", addOnceInTransaction(Policy.ofAttempts(1).metrics(metrics), injector));
        assertOneEffect();
    }

    @Test
    void aKeyThatIsThereIsFoundAgain() throws Exception {
        assertEquals("101", addOnceInTransaction(policy, injector));
        injector.afterNextCommit(DatabaseTest::lose);
        assertEquals("101", addOnceInTransaction(Policy.ofAttempts(1).metrics(metrics), injector));
        assertOneEffect();
    }

    @Test
    void whatSuchAKeyCannotFindOutIsUnknown() throws Exception {
        var opened = new AtomicInteger();
        var down = new SQLException("no server", "08001");
        Transactions.Source once =
                () -> {
                    if (opened.incrementAndGet() > 1) {
                        throw down;
                    }
                    return injector.open();
                };
        var inside = new Transactions(once);
        Policy repeatable = policy.repeatable(true);
        Work<String, SQLException> keyedCall =
                () -> Retry.call(policy, inside, KEYS.key("2"), DatabaseTest::addOne);
        List<Callable<String>> calls =
                List.of(
                        () -> addOnceInTransaction(policy, once),
                        () -> Retry.call(repeatable, keyedCall));
        for (Callable<String> call : calls) {
            opened.set(0);
            injector.afterNextCommit(DatabaseTest::lose);
            var thrown = assertThrows(OutcomeUnknownException.class, call::call);
            assertSame(down, thrown.getCause());
            assertEquals(6, opened.get()); // 3 attempts, and 3 to find out the outcome.
        }
    }

    /**
     * Returns the exception of a call whose first attempt is lost during its commit, and whose
     * later attempts fail.
     */
    <X extends Exception> X loseAndFail(Class<X> expected, SQLException later, int attempts) {
        injector.beforeNextCommit(DatabaseTest::lose);
        var runs = new AtomicInteger();
        var thrown =
                assertThrows(
                        expected,
                        () ->
                                Retry.call(
                                        policy,
                                        transactions,
                                        KEYS.key("order 1"),
                                        connection -> {
                                            if (runs.incrementAndGet() > 1) {
                                                throw later;
                                            }
                                            return "done";
                                        }));
        assertEquals(attempts, runs.get());
        return thrown;
    }

    @Test
    void anOutcomeThatCannotBeFoundOutIsSaidToBeUnknown() throws Exception {
        var isDown = new AtomicBoolean();
        var down = new SQLException("no server", "08001");
        transactions =
                new Transactions(
                        () -> {
                            if (isDown.get()) {
                                throw down;
                            }
                            return injector.open();
                        });
        injector.afterNextCommit(
                () -> {
                    isDown.set(true);
                    lose();
                });
        var thrown = assertThrows(OutcomeUnknownException.class, () -> addOnce("order 1"));
        assertSame(down, thrown.getCause());
        assertEquals(101, balance(1));
        assertEquals(5, metrics.statistics().retries()); // 3 attempts, and 3 to find out the outcome.
        assertEquals(1, metrics.statistics().givenUp());
    }

    static void lose() throws SQLException {
        throw new SQLException("the response was lost", "08006");
    }

    @Test
    void aKeyHasOneEffectAndOneResult() throws Exception {
        assertEquals("101", addOnce("order 1"));
        assertEquals("101", addOnce("order 1"));
        assertEquals("102", addOnce("Order 1"));
        assertEquals(102, balance(1));
        var nothing = KEYS.key("nothing");
        for (int k = 0; k < 2; k++) {
            assertNull(Retry.call(policy, transactions, nothing, DatabaseTest::addSilently));
        }
        assertEquals(103, balance(1));
    }

    private static String addSilently(Connection connection) throws SQLException {
        add(connection, 1, 1);
        return null;
    }

    @Test
    void aKeyIsReadOnlyIfItIsThere() throws Exception {
        var prepared = new PreparedStatements(database::connect);
        transactions = new Transactions(prepared);
        assertEquals("101", addOnce("order 1"));
        assertEquals(keyStatements(), prepared.firstWords());
        prepared.sql.clear();
        assertEquals("101", addOnce("order 1"));
        assertEquals(keyStatements().get(0), prepared.firstWords().get(0));
        assertEquals("SELECT", prepared.firstWords().get(1));
        assertEquals(2, prepared.sql.size());
        assertEquals(0, metrics.statistics().retries());
    }

    /** Returns the first words of the statements that insert a key and its result. */
    abstract List<String> keyStatements();

    /**
     * Checks that a repeated call returns the result of the committed first call, no matter how the
     * repeated work fails.
     */
    @Test
    void workThatCannotBeDoneAgainHasItsFirstResult() throws Exception {
        assertEquals("101", addOnce("order 1"));
        var sold = new IOException("sold out");
        for (Exception failure : List.of(sold, new StaleVersionException())) {
            assertEquals(
                    "101",
                    Retry.call(
                            policy,
                            transactions,
                            KEYS.key("order 1"),
                            connection -> {
                                throw failure;
                            }));
        }
        assertEquals(0, metrics.statistics().retries());
    }

    /**
     * Creates the table with a column for requests. One test uses a key that has the maximum length
     * of the column and starts with another key.
     */
    private void makeTableOfRequests() throws SQLException {
        database.execute("DROP TABLE retry_key");
        database.execute(
                ("CREATE TABLE retry_key (id %s PRIMARY KEY, result text, request varchar(64),"
                                + " created %s DEFAULT CURRENT_TIMESTAMP)")
                        .formatted(
                                database.keyType().replaceAll(" CHECK.*", ""),
                                database.momentType()));
    }

    private String order(String id, String request) throws SQLException {
        return Retry.call(
                policy,
                transactions,
                KEYS.key(id).request(request),
                connection -> {
                    add(connection, 1, 1);
                    return "added";
                });
    }

    @Test
    void aKeyOfAnotherRequestIsRefused() throws Exception {
        makeTableOfRequests();
        assertEquals("added", order("order 1", "7 apples"));
        assertEquals("added", order("order 1", "7 apples"));
        assertThrows(KeyReusedException.class, () -> order("order 1", "8 apples"));
        assertThrows(KeyReusedException.class, () -> order("order 1", "7 apples "));
        assertEquals("added", order("order 2", "8 apples"));
        database.execute("INSERT INTO retry_key (id, result) VALUES ('order 3', 'earlier')");
        assertEquals("earlier", order("order 3", "9 apples"));
        assertThrows(
                KeyReusedException.class,
                () ->
                        transactions.run(
                                connection ->
                                        KEYS.key("order 1")
                                                .request("8 apples")
                                                .once(connection, open -> "unreachable")));
        assertEquals(102, balance(1));
    }

    @Test
    void oldKeysAreDeletedSoManyAtATime() throws Exception {
        makeTableOfRequests();
        database.execute(
                "INSERT INTO retry_key (id, created) VALUES ('a', '2020-01-02 03:04:05'),"
                        + " ('b', '2021-01-02 03:04:05'), ('c', '2022-01-02 03:04:05')");
        order("new", "7 apples");
        try (Connection connection = database.connect()) {
            Duration day = Duration.ofDays(1);
            assertEquals(2, KEYS.deleteOlder(connection, day, 2));
            assertEquals(1, KEYS.deleteOlder(connection, day, 2));
            assertEquals(0, KEYS.deleteOlder(connection, day, 2));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> KEYS.deleteOlder(connection, Duration.ZERO, 2));
        }
        assertEquals(1, database.number("SELECT count(*) FROM retry_key WHERE id = 'new'"));
        assertEquals(1, database.number("SELECT count(*) FROM retry_key"));
    }

    @Test
    void aJobPurgesExpiredKeys() throws Exception {
        makeTableOfRequests();
        for (int k = 0; k < 25; k++) {
            StringBuilder rows = new StringBuilder();
            for (int n = 0; n < 100; n++) {
                rows.append(n == 0 ? "" : ", ").append("('%d-%d', '2020-01-02 03:04:05')".formatted(k, n));
            }
            database.execute("INSERT INTO retry_key (id, created) VALUES " + rows);
        }
        order("new", "7 apples");
        try (var purge = new KeyPurge(KEYS, new Transactions(database::connect), Duration.ofDays(1))) {
            assertEquals(2_500, purge.purge());
            assertEquals(0, purge.purge());
            assertEquals(1, database.number("SELECT count(*) FROM retry_key WHERE id = 'new'"));
        }
        int[] failures = {3};
        var failing =
                new Transactions(
                        () -> {
                            if (failures[0]-- > 0) {
                                throw new SQLException("down", "08001");
                            }
                            return database.connect();
                        });
        try (var purge = new KeyPurge(KEYS, failing, Duration.ofDays(1))) {
            database.execute("INSERT INTO retry_key (id, created) VALUES ('old', '2020-01-02 03:04:05')");
            purge.start(Duration.ofMillis(1));
            while (database.number("SELECT count(*) FROM retry_key") > 1) {
                Thread.sleep(1);
            }
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> new KeyPurge(KEYS, failing, Duration.ofMillis(999)));
    }

    /**
     * Deletes old keys in a session in a time zone east of UTC, in which a local time from another
     * zone would look old.
     */
    @Test
    void theZoneOfASessionMakesNoKeyOlder() throws Exception {
        makeTableOfRequests();
        order("new", "7 apples");
        try (Connection connection = database.connect()) {
            String setting = database.zoneSetting(12);
            if (setting != null) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute(setting);
                }
            }
            assertEquals(0, KEYS.deleteOlder(connection, Duration.ofHours(1), 2));
        }
    }

    @Test
    void aKeyThatIsTooLongIsNotCutOff() throws Exception {
        String longest = "x".repeat(255);
        assertEquals("101", addOnce(longest));
        assertThrows(SQLException.class, () -> addOnce(longest + "x"));
        assertEquals(101, balance(1));
        assertEquals(1, database.number("SELECT count(*) FROM retry_key"));
        assertEquals(1, faults(Fault.PERMANENT));
    }

    @Test
    void anotherViolationIsNotTakenForAKeyThatIsThere() throws Exception {
        assertThrows(SQLException.class, () -> addOnce(""));
        assertEquals(100, balance(1));
        assertEquals(1, faults(Fault.PERMANENT));
    }

    @Test
    void whatFailsLeavesNoKey() throws Exception {
        var key = KEYS.key("order 1", Object::toString, Long::valueOf);
        assertThrows(
                SQLException.class,
                () ->
                        Retry.call(
                                policy,
                                transactions,
                                key,
                                connection -> number(connection, "SELECT x FROM nowhere")));
        assertEquals(0, database.number("SELECT count(*) FROM retry_key"));
        assertEquals(1, faults(Fault.PERMANENT));
    }

    @Test
    void oneKeyInManyThreadsHasOneEffect() throws Exception {
        Policy patient = Policy.ofAttempts(1_000).deadline(LONG).metrics(metrics);
        Callable<String> task = () -> addOnce(patient, "order 1");
        assertEquals(List.of("101", "101", "101"), Stress.together(List.of(task, task, task)));
        assertEquals(101, balance(1));
        assertEquals(1, database.number("SELECT count(*) FROM retry_key"));
    }

    String addOnce(String key) throws SQLException {
        return addOnce(policy, key);
    }

    private String addOnce(Policy with, String key) throws SQLException {
        return Retry.call(with, transactions, KEYS.key(key), DatabaseTest::addOne);
    }

    private static String addOne(Connection connection) throws SQLException {
        add(connection, 1, 1);
        return Long.toString(number(connection, "SELECT balance FROM account WHERE id = 1"));
    }

    /**
     * Calls {@link IdempotencyKey#once} in a transaction that the retried call begins and commits
     * itself. In an application server, the container would do this.
     */
    private String addOnceInTransaction(Policy with, Transactions.Source source)
            throws SQLException {
        return Retry.call(
                with.repeatable(true),
                () -> {
                    try (Connection connection = source.open()) {
                        connection.setAutoCommit(false);
                        String result = KEYS.key("order 1").once(connection, DatabaseTest::addOne);
                        connection.commit();
                        return result;
                    }
                });
    }
}
