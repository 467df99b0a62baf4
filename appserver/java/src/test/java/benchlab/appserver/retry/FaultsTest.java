// SPDX-License-Identifier: Apache-2.0
// Protects the classes of faults: what is retried that should not be, or the other way round.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import jakarta.persistence.LockTimeoutException;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.PersistenceException;
import jakarta.transaction.RollbackException;
import java.io.IOException;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransactionRollbackException;
import java.sql.SQLTransientConnectionException;
import javax.transaction.xa.XAException;
import org.hibernate.StaleObjectStateException;
import org.hibernate.StaleStateException;
import org.hibernate.dialect.lock.OptimisticEntityLockException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

class FaultsTest {

    @ParameterizedTest
    @CsvSource({
        "40001, 0, SERIALIZATION_FAILURE",
        "40000, 0, SERIALIZATION_FAILURE",
        "HY000, 1020, SERIALIZATION_FAILURE",
        "40P01, 0, DEADLOCK",
        "40001, 1213, DEADLOCK",
        "55P03, 0, LOCK_TIMEOUT",
        "HY000, 1205, LOCK_TIMEOUT",
        "08000, 0, CONNECTION_LOST",
        "08006, 0, CONNECTION_LOST",
        "08S01, 1158, CONNECTION_LOST",
        "57P01, 0, CONNECTION_LOST",
        "57P02, 0, CONNECTION_LOST",
        "57P03, 0, CONNECTION_LOST",
        "57P05, 0, CONNECTION_LOST",
        "25P03, 0, CONNECTION_LOST",
        "53300, 0, CONNECTION_LOST",
        "70100, 1927, CONNECTION_LOST",
        "HY000, 2006, CONNECTION_LOST",
        "HY000, 2013, CONNECTION_LOST",
        "08007, 0, OUTCOME_UNKNOWN",
        "40003, 0, OUTCOME_UNKNOWN",
        "40002, 0, PERMANENT",
        "23505, 0, PERMANENT",
        "42601, 1213, PERMANENT",
        "70100, 1317, PERMANENT",
        "57014, 0, PERMANENT",
        "HY000, 5, PERMANENT",
    })
    void statesAndCodesHaveAClass(String state, int code, Fault fault) {
        assertEquals(fault, Faults.of(new SQLException("", state, code)));
    }

    @ParameterizedTest
    @CsvSource({
        "SQLITE_BUSY, BUSY",
        "SQLITE_BUSY_SNAPSHOT, BUSY",
        "SQLITE_LOCKED, BUSY",
        "SQLITE_LOCKED_SHAREDCACHE, BUSY",
        "SQLITE_CONSTRAINT, PERMANENT",
        "SQLITE_IOERR, PERMANENT",
    })
    void codesOfSqliteHaveAClass(SQLiteErrorCode code, Fault fault) {
        assertEquals(fault, Faults.of(new SQLiteException("", code)));
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

    /** As transaction managers throw them, such as Narayana. */
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
        failure.addSuppressed(new SQLException("", "40001")); // An earlier attempt's.
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
