// SPDX-License-Identifier: Apache-2.0
// A commit whose outcome nobody knows.
package benchlab.appserver.retry;

/**
 * The connection was lost during the commit, so that the work may be in the database or not. The
 * cause is what the driver threw, or what kept the last retry from finding out.
 */
public final class OutcomeUnknownException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OutcomeUnknownException(Exception cause) {
        super("the connection was lost during the commit: " + cause.getMessage(), cause);
    }
}
