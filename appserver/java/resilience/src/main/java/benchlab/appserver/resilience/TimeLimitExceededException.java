// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

/**
 * Thrown if a {@link TimeLimiter} does not wait for a call any longer. The call may still take
 * effect, so its outcome is unknown, unless it had not begun.
 */
public final class TimeLimitExceededException extends GuardException {
    private static final long serialVersionUID = 1;

    TimeLimitExceededException(String message, boolean hasBegun) {
        super(message, hasBegun ? Verdict.OUTCOME_UNKNOWN : Verdict.TRANSIENT);
    }
}
