// SPDX-License-Identifier: Apache-2.0
// Tests the classes of faults: permanent faults must not be retried, and transient ones must be.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import jakarta.persistence.LockTimeoutException;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.PersistenceException;
import jakarta.transaction.RollbackException;
import benchlab.appserver.resilience.Work;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransactionRollbackException;
import java.sql.SQLTransientConnectionException;
import java.util.Locale;
import java.util.stream.Stream;
import javax.transaction.xa.XAException;
import org.hibernate.StaleObjectStateException;
import org.hibernate.StaleStateException;
import org.hibernate.dialect.lock.OptimisticEntityLockException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

class FaultsTest {

    /** The expected faults. The tests of the Ada library read the same file. */
    private static final Path TABLE = Path.of("src/test/data/faults.txt");

    /**
     * A line of the table: database, SQLSTATE, code, fault, and "refused" if there was no
     * connection.
     */
    private record Line(SQLException error, Fault fault, boolean isRefused) {
        static Line of(String text) {
            String[] words = text.split(" ");
            int code = Integer.parseInt(words[2]);
            return new Line(
                    words[0].equals("sqlite")
                            ? new SQLiteException(text, SQLiteErrorCode.getErrorCode(code))
                            : new SQLException(text, words[1], code),
                    Fault.valueOf(words[3].toUpperCase(Locale.ROOT)),
                    words.length == 5 && words[4].equals("refused"));
        }

        @Override
        public String toString() {
            return error.getMessage();
        }
    }

    private static Stream<Line> lines() throws IOException {
        return Files.readAllLines(TABLE).stream().map(Line::of);
    }

    @Test
    void aStalePlanIsRetriedAndOtherThingsThatAreNotSupportedAreNot() {
        String words = "ERROR: cached plan must not change result type";
        assertEquals(Fault.SERIALIZATION_FAILURE, Faults.of(new SQLException(words, "0A000")));
        assertEquals(Fault.PERMANENT, Faults.of(new SQLException("COPY", "0A000")));
    }

    @ParameterizedTest
    @MethodSource("lines")
    void errorsHaveAClass(Line line) {
        assertEquals(line.fault, Faults.of(line.error));
    }

    /**
     * Work that commits its own transaction may have committed, unless the connection was refused.
     */
    @ParameterizedTest
    @MethodSource("lines")
    void onlyWhoWasRefusedHasCertainlyDoneNothing(Line line) {
        var metrics = new RetryMetrics();
        Work<Void, SQLException> work =
                () -> {
                    throw line.error;
                };
        assertThrows(Exception.class, () -> Retry.call(Policy.ofAttempts(1).metrics(metrics), work));
        Fault counted =
                line.fault == Fault.CONNECTION_LOST && !line.isRefused
                        ? Fault.OUTCOME_UNKNOWN
                        : line.fault;
        assertEquals(1, metrics.statistics().faults().get(counted), metrics.statistics()::toString);
    }

    /** Tests exceptions as the Java drivers throw them. */
    @ParameterizedTest
    @CsvSource({
        "70100, 1927, CONNECTION_LOST",
        "HY000, 2006, CONNECTION_LOST",
        "HY000, 2013, CONNECTION_LOST",
        "42601, 1213, PERMANENT",
        "HY000, 5, PERMANENT",
    })
    void statesAndCodesHaveAClass(String state, int code, Fault fault) {
        assertEquals(fault, Faults.of(new SQLException("", state, code)));
    }

    /** Tests the exception that MariaDB's driver throws for a SIGNAL in a trigger. */
    @Test
    void withAStateTheTypeDoesNotDecide() {
        var signal = new SQLTransientConnectionException("no stock", "45000", 1644);
        assertEquals(Fault.PERMANENT, Faults.of(signal));
    }

    @Test
    void withoutAStateTheTypeDecides() {
        assertEquals(Fault.CONNECTION_LOST, Faults.of(new SQLRecoverableException("")));
        assertEquals(Fault.CONNECTION_LOST, Faults.of(new SQLNonTransientConnectionException("")));
        assertEquals(Fault.CONNECTION_LOST, Faults.of(new SQLTransientConnectionException("")));
        assertEquals(
                Fault.SERIALIZATION_FAILURE, Faults.of(new SQLTransactionRollbackException("")));
        assertEquals(
                Fault.PERMANENT, Faults.of(new SQLTransactionRollbackException("", "40002")));
        assertEquals(Fault.PERMANENT, Faults.of(new SQLTimeoutException("")));
        assertEquals(Fault.PERMANENT, Faults.of(new SQLIntegrityConstraintViolationException("")));
    }

    @Test
    void exceptionsOfPersistenceHaveAClass() {
        assertEquals(Fault.STALE_VERSION, Faults.of(new OptimisticLockException()));
        assertEquals(Fault.LOCK_TIMEOUT, Faults.of(new LockTimeoutException()));
        assertEquals(Fault.STALE_VERSION, Faults.of(new StaleStateException("")));
        assertEquals(Fault.STALE_VERSION, Faults.of(new StaleObjectStateException("Order", 1)));
        assertEquals(
                Fault.STALE_VERSION, Faults.of(new OptimisticEntityLockException(this, "stale")));
        assertEquals(Fault.PERMANENT, Faults.of(new PersistenceException()));
    }

    @Test
    void causesAndChainsAreSearched() {
        var deadlock = new SQLException("", "40P01");
        var aborted = new SQLException("", "25P02", deadlock);
        assertEquals(Fault.DEADLOCK, Faults.of(new RuntimeException(new IOException(aborted))));
        var batch = new BatchUpdateException(new int[0]);
        batch.setNextException(new SQLException("", "23505"));
        batch.setNextException(deadlock);
        assertEquals(Fault.DEADLOCK, Faults.of(new PersistenceException(batch)));
        var stale = new RuntimeException(new StaleVersionException());
        assertEquals(Fault.STALE_VERSION, Faults.of(stale));
    }

    /** Tests an exception of the form that transaction managers such as Narayana throw. */
    @Test
    void aSuppressedExceptionOfTheResourceIsSearched() {
        var resource = new XAException(XAException.XA_RBROLLBACK);
        resource.initCause(new SQLException("", "40001"));
        var rolledBack = new RollbackException();
        rolledBack.addSuppressed(resource);
        assertEquals(Fault.SERIALIZATION_FAILURE, Faults.of(new RuntimeException(rolledBack)));
    }

    @Test
    void otherSuppressedExceptionsSayNothing() {
        var failure = new RuntimeException();
        failure.addSuppressed(new SQLException("", "40001")); // From an earlier attempt.
        assertEquals(Fault.PERMANENT, Faults.of(failure));
    }

    @Test
    void whatIsUnknownIsNotTakenForItsCause() {
        var lost = new SQLException("", "08006");
        assertEquals(
                Fault.OUTCOME_UNKNOWN,
                Faults.of(new RuntimeException(new OutcomeUnknownException(lost))));
    }

    @Test
    void aCircleOfCausesEnds() {
        var one = new RuntimeException();
        var two = new RuntimeException(one);
        one.initCause(two);
        assertEquals(Fault.PERMANENT, Faults.of(two));
    }
}
