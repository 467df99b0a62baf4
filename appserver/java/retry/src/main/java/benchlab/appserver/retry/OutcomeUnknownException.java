// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

/**
 * Thrown if the connection was lost, possibly during the commit, so the work may or may not have
 * been committed. The cause is the exception of the driver or container, even if its message says
 * that the transaction was rolled back, or the exception that prevented the last retry from finding
 * out the outcome.
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
