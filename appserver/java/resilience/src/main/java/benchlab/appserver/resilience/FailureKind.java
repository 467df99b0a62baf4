// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

/** The kinds of failures. They differ in the known effect of the call. */
public enum FailureKind {
    /** The call had no effect, and may succeed if it is repeated. */
    TRANSIENT,
    /**
     * The call may have taken effect, such as an HTTP request whose response was lost. Only a call
     * that is idempotent is repeated.
     */
    OUTCOME_UNKNOWN,
    /** The call would fail again. It is never repeated. */
    PERMANENT
}
