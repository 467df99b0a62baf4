// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

/** Thrown by a guard that does not make a call, or does not wait for its end. */
public abstract sealed class GuardException extends RuntimeException
        permits BulkheadFullException, CircuitOpenException, TimeLimitExceededException {
    private static final long serialVersionUID = 1;

    private final transient Verdict verdict;

    GuardException(String message, Verdict verdict) {
        super(message);
        this.verdict = verdict;
    }

    /**
     * Returns the classification for {@link RetryPolicy}.
     *
     * @return the classification
     */
    public Verdict verdict() {
        return verdict == null ? Verdict.PERMANENT : verdict; // Null after deserialization.
    }

    /**
     * Returns true if the call was not made, and so had no effect.
     *
     * @return true if the call was not made
     */
    public boolean isRejection() {
        return verdict().kind() != FailureKind.OUTCOME_UNKNOWN;
    }
}
