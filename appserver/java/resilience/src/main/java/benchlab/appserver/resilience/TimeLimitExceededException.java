// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

/**
 * Thrown when a {@link TimeLimiter} stops waiting for a call. A call that had begun may still take
 * effect, so its outcome is unknown. A call that had not begun has no effect.
 */
public final class TimeLimitExceededException extends GuardException {
    private static final long serialVersionUID = 1;

    TimeLimitExceededException(String message, boolean hasBegun) {
        super(message, hasBegun ? Verdict.OUTCOME_UNKNOWN : Verdict.TRANSIENT);
    }
}
