// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransactionRollbackException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import javax.transaction.xa.XAException;

/**
 * Classifies exceptions by the SQLSTATE and vendor code of SQLite (sqlite-jdbc), PostgreSQL
 * (pgjdbc) and MariaDB (Connector/J), and by the class names of the exceptions of Jakarta
 * Persistence and Hibernate, which need not be on the class path.
 *
 * <p>Sources for SQLSTATEs: ISO/IEC 9075-2, clause 24, and appendix A of PostgreSQL's manual.
 * Sources for codes: https://mariadb.com/docs/server/reference/error-codes,
 * https://sqlite.org/rescode.html.
 */
public final class Faults {

    private static final Map<String, Fault> STATES =
            Map.ofEntries(
                    Map.entry("40000", Fault.SERIALIZATION_FAILURE), // Rolled back, without details.
                    Map.entry("40001", Fault.SERIALIZATION_FAILURE),
                    Map.entry("26000", Fault.SERIALIZATION_FAILURE), // Unknown prepared statement.
                    Map.entry("40003", Fault.OUTCOME_UNKNOWN), // Statement completion unknown.
                    Map.entry("40P01", Fault.DEADLOCK),
                    Map.entry("55P03", Fault.LOCK_TIMEOUT),
                    Map.entry("08007", Fault.OUTCOME_UNKNOWN), // Transaction resolution unknown.
                    Map.entry("57P01", Fault.CONNECTION_LOST), // Shut down by an administrator.
                    Map.entry("57P02", Fault.CONNECTION_LOST), // Another session crashed.
                    Map.entry("57P03", Fault.CONNECTION_LOST), // The server is starting or stopping.
                    Map.entry("57P05", Fault.CONNECTION_LOST), // The session was idle too long.
                    Map.entry("25S03", Fault.CONNECTION_LOST), // MariaDB's driver failed over.
                    Map.entry("25P03", Fault.CONNECTION_LOST), // The transaction was idle too long.
                    Map.entry("53300", Fault.CONNECTION_LOST)); // Too many connections.

    private static final String CONNECTION_CLASS = "08";

    /**
     * The SQLSTATE of a stale plan. PostgreSQL also reports this state for every feature that it
     * does not support, so the English message is checked, too.
     */
    private static final String UNSUPPORTED = "0A000";

    private static final String STALE_PLAN = "cached plan must not change result type";

    private static final Map<Integer, Fault> MARIADB_CODES =
            Map.of(
                    1020, Fault.SERIALIZATION_FAILURE, // Record changed since the snapshot.
                    1203, Fault.CONNECTION_LOST, // The user has too many connections.
                    1205, Fault.LOCK_TIMEOUT,
                    1213, Fault.DEADLOCK,
                    1243, Fault.SERIALIZATION_FAILURE, // Unknown prepared statement.
                    1615, Fault.SERIALIZATION_FAILURE, // A table of a prepared statement changed.
                    1927, Fault.CONNECTION_LOST, // Killed.
                    2006, Fault.CONNECTION_LOST, // The server has gone away.
                    2013, Fault.CONNECTION_LOST);

    /**
     * The states that MariaDB reports with the codes above. Other databases use these codes for
     * other errors.
     */
    private static final Set<String> MARIADB_STATES = Set.of("HY000", "40001", "42000", "70100");

    /**
     * The states of connections that were not established: refused, server starting, too many
     * connections.
     */
    private static final Set<String> UNCONNECTED_STATES =
            Set.of("08001", "08004", "57P03", "53300");

    private static final String MARIADB_UNCONNECTED_STATE = "42000";
    private static final int MARIADB_UNCONNECTED_CODE = 1203;

    /**
     * The codes SQLITE_BUSY and SQLITE_LOCKED. The driver truncates extended codes such as
     * BUSY_SNAPSHOT to these.
     */
    private static final Set<Integer> SQLITE_CODES = Set.of(5, 6);

    private static final String SQLITE_EXCEPTION = "org.sqlite.SQLiteException";

    private static final Map<String, Fault> NAMES =
            Map.of(
                    "jakarta.persistence.OptimisticLockException", Fault.STALE_VERSION,
                    "javax.persistence.OptimisticLockException", Fault.STALE_VERSION,
                    "org.hibernate.StaleStateException", Fault.STALE_VERSION,
                    "org.hibernate.dialect.lock.OptimisticEntityLockException", Fault.STALE_VERSION,
                    "jakarta.persistence.LockTimeoutException", Fault.LOCK_TIMEOUT,
                    "javax.persistence.LockTimeoutException", Fault.LOCK_TIMEOUT);

    private Faults() {}

    /**
     * Returns the class of a failure. Classifies the exception, the exceptions chained to it
     * ({@link SQLException#getNextException}) and its causes, and returns the first class other
     * than {@link Fault#PERMANENT}. A transaction manager may suppress the {@link XAException} of a
     * failed commit, so suppressed exceptions of this type count as causes.
     *
     * <p>A lost connection is always {@link Fault#CONNECTION_LOST} here. Only {@link Transactions}
     * knows whether the connection was lost during a commit, and then throws {@link
     * OutcomeUnknownException}.
     *
     * @param failure the exception
     * @return the class
     */
    public static Fault of(Throwable failure) {
        Set<Throwable> visited = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> open = new ArrayDeque<>();
        open.add(failure);
        while (!open.isEmpty()) {
            Throwable next = open.remove();
            if (!visited.add(next)) {
                continue;
            }
            Fault fault = ofFailure(next);
            if (fault != Fault.PERMANENT) {
                return fault;
            }
            if (next instanceof SQLException chained && chained.getNextException() != null) {
                open.add(chained.getNextException());
            }
            if (next.getCause() != null) {
                open.add(next.getCause());
            }
            for (Throwable suppressed : next.getSuppressed()) {
                if (suppressed instanceof XAException) {
                    open.add(suppressed);
                }
            }
        }
        return Fault.PERMANENT;
    }

    /**
     * Returns true if a failure shows that the database is unavailable: a connection was lost, or
     * could not be established. For circuit breakers, which must not open because of deadlocks.
     *
     * @param failure the exception
     * @return true for an outage
     */
    public static boolean isOutage(Throwable failure) {
        Fault fault = of(failure);
        return fault == Fault.CONNECTION_LOST || fault == Fault.OUTCOME_UNKNOWN;
    }

    /** Returns true if no connection was established, so that no transaction was begun. */
    static boolean isUnableToConnect(SQLException error) {
        String state = error.getSQLState();
        return state != null
                && (UNCONNECTED_STATES.contains(state)
                        || state.equals(MARIADB_UNCONNECTED_STATE)
                                && error.getErrorCode() == MARIADB_UNCONNECTED_CODE);
    }

    private static Fault ofFailure(Throwable failure) {
        if (failure instanceof OutcomeUnknownException) {
            return Fault.OUTCOME_UNKNOWN;
        } else if (failure instanceof StaleVersionException) {
            return Fault.STALE_VERSION;
        } else if (failure instanceof SQLException error) {
            return ofSql(error);
        }
        return ofName(failure.getClass());
    }

    private static Fault ofSql(SQLException error) {
        if (error.getClass().getName().equals(SQLITE_EXCEPTION)) {
            return SQLITE_CODES.contains(error.getErrorCode() & 0xFF)
                    ? Fault.BUSY
                    : Fault.PERMANENT;
        }
        String state = error.getSQLState();
        if (state == null) {
            return ofType(error);
        }
        Fault fault =
                MARIADB_STATES.contains(state) ? MARIADB_CODES.get(error.getErrorCode()) : null;
        if (fault == null) {
            fault = STATES.get(state);
        }
        if (fault != null) {
            return fault;
        } else if (state.equals(UNSUPPORTED) && isOfStalePlan(error)) {
            return Fault.SERIALIZATION_FAILURE;
        }
        // Not the class of the exception: MariaDB's driver also throws its transient connection
        // exception for 45000.
        return state.startsWith(CONNECTION_CLASS) ? Fault.CONNECTION_LOST : Fault.PERMANENT;
    }

    /**
     * Returns true if a table of a prepared statement has changed since the statement was prepared.
     * PgJDBC prepares the statement again.
     */
    private static boolean isOfStalePlan(SQLException error) {
        return String.valueOf(error.getMessage()).contains(STALE_PLAN);
    }

    /** Classifies JDBC's own exceptions that have no state. */
    private static Fault ofType(SQLException error) {
        if (error instanceof SQLTransactionRollbackException) {
            return Fault.SERIALIZATION_FAILURE;
        } else if (error instanceof SQLRecoverableException
                || error instanceof SQLNonTransientConnectionException
                || error instanceof SQLTransientConnectionException) {
            return Fault.CONNECTION_LOST;
        }
        return Fault.PERMANENT;
    }

    private static Fault ofName(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            Fault fault = NAMES.get(each.getName());
            if (fault != null) {
                return fault;
            }
        }
        return Fault.PERMANENT;
    }
}
