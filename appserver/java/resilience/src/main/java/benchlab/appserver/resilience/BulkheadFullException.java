// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

/**
 * Thrown if a {@link Bulkhead} had no free permit in time. The call was not made, so the failure is
 * transient.
 */
public final class BulkheadFullException extends GuardException {
    private static final long serialVersionUID = 1;

    BulkheadFullException(String message) {
        super(message, Verdict.TRANSIENT);
    }
}
