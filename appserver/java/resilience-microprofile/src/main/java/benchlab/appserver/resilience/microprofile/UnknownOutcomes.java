// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience.microprofile;

import benchlab.appserver.resilience.FailureKind;
import benchlab.appserver.resilience.GuardException;
import benchlab.appserver.resilience.HttpFailures;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import org.eclipse.microprofile.faulttolerance.exceptions.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Finds failures of calls that may have taken effect, also among the causes of an exception: clients
 * of Jakarta REST, Jakarta Persistence and others wrap the exceptions of connections.
 */
final class UnknownOutcomes {

    private static final String CONNECTION_CLASS = "08";

    /** SQLSTATEs of connections that were not established. */
    private static final Set<String> UNCONNECTED_STATES = Set.of("08001", "08004");

    /** Other SQLSTATEs that a commit may have, although it takes effect. */
    private static final Set<String> UNKNOWN_STATES =
            Set.of(
                    "40003", // Statement completion unknown.
                    "57P01", // Shut down by an administrator.
                    "57P02", // Another session crashed.
                    "25S03"); // MariaDB's driver failed over.

    /**
     * MariaDB's state and code of a killed connection. With other codes, the state is that of a
     * statement that was interrupted and undone.
     */
    private static final String KILLED_STATE = "70100";

    private static final int KILLED_CODE = 1927;

    private UnknownOutcomes() {}

    /**
     * Returns true if the call may have taken effect. The outermost exception that determines the
     * outcome decides.
     */
    static boolean contain(Throwable failure) {
        Set<Throwable> visited = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> open = new ArrayDeque<>();
        open.add(failure);
        while (!open.isEmpty()) {
            Throwable next = open.remove();
            if (!visited.add(next)) {
                continue;
            }
            Boolean isUnknown = isUnknown(next);
            if (isUnknown != null) {
                return isUnknown;
            }
            if (next instanceof SQLException chained && chained.getNextException() != null) {
                open.add(chained.getNextException());
            }
            if (next.getCause() != null) {
                open.add(next.getCause());
            }
        }
        return failure instanceof Exception exception
                && HttpFailures.classify(exception).kind() == FailureKind.OUTCOME_UNKNOWN;
    }

    /** Returns null if the exception itself does not determine the outcome. */
    private static @Nullable Boolean isUnknown(Throwable failure) {
        if (failure instanceof TimeoutException) {
            return true;
        } else if (failure instanceof GuardException guard) {
            return guard.verdict().kind() == FailureKind.OUTCOME_UNKNOWN;
        }
        return failure instanceof SQLException error ? isUnknown(error) : null;
    }

    private static @Nullable Boolean isUnknown(SQLException error) {
        String state = error.getSQLState();
        if (state == null) {
            return isOfLostConnection(error) ? true : null;
        } else if (state.startsWith(CONNECTION_CLASS)) {
            return !UNCONNECTED_STATES.contains(state);
        }
        boolean isUnknown =
                UNKNOWN_STATES.contains(state)
                        || state.equals(KILLED_STATE) && error.getErrorCode() == KILLED_CODE;
        return isUnknown ? true : null;
    }

    /**
     * Returns true if the type alone shows that a connection was lost. Pools throw {@link
     * SQLTransientConnectionException} if no connection is free, so nothing was sent.
     */
    private static boolean isOfLostConnection(SQLException error) {
        return error instanceof SQLRecoverableException
                || error instanceof SQLNonTransientConnectionException;
    }
}
