// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.time.Duration;
import java.util.Objects;

/**
 * The classification of a failure.
 *
 * @param kind the kind of the failure
 * @param minDelay the minimum delay before a retry, such as the {@code Retry-After} of an HTTP
 *     response
 */
public record Verdict(FailureKind kind, Duration minDelay) {

    /** A transient failure of a call that had no effect. */
    public static final Verdict TRANSIENT = new Verdict(FailureKind.TRANSIENT, Duration.ZERO);

    /** A failure of a call that may have taken effect. */
    public static final Verdict OUTCOME_UNKNOWN =
            new Verdict(FailureKind.OUTCOME_UNKNOWN, Duration.ZERO);

    /** A failure that a repeated call would encounter again. */
    public static final Verdict PERMANENT = new Verdict(FailureKind.PERMANENT, Duration.ZERO);

    public Verdict {
        Objects.requireNonNull(kind, "kind");
        if (minDelay.isNegative()) {
            throw new IllegalArgumentException("minDelay must not be negative: " + minDelay);
        }
        minDelay.toNanos(); // Throws if it exceeds 292 years.
    }

    /**
     * Returns a copy with a minimum delay.
     *
     * @param delay the minimum delay before a retry
     * @return the verdict
     */
    public Verdict after(Duration delay) {
        return new Verdict(kind, delay);
    }
}
