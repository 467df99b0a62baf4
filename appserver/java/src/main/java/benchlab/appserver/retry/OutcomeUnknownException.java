// SPDX-License-Identifier: Apache-2.0
// A commit with an unknown outcome.
package benchlab.appserver.retry;

/**
 * The connection was lost during the commit, or where nobody can tell whether it was, so that the
 * work may be in the database or not. The cause is what the driver or the container threw, also if
 * that says that the transaction was rolled back, or what kept the last retry from finding out.
 */
public final class OutcomeUnknownException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OutcomeUnknownException(Exception cause) {
        super("it is unknown whether the work was committed: " + cause.getMessage(), cause);
    }

    OutcomeUnknownException(String message) {
        super(message);
    }
}
