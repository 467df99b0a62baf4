// SPDX-License-Identifier: Apache-2.0
// A commit whose outcome nobody knows.
package benchlab.appserver.retry;

import java.sql.SQLException;

/**
 * The connection was lost during the commit, so that the work may be in the database or not. What
 * the driver threw is the cause.
 */
public final class OutcomeUnknownException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OutcomeUnknownException(SQLException cause) {
        super("the connection was lost during the commit: " + cause.getMessage(), cause);
    }
}
