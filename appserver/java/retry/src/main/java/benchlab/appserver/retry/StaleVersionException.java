// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

/** Thrown if the record was changed or deleted after it was read. */
public final class StaleVersionException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /**
     * Creates the exception, for tests and for code that detects a stale version in another way.
     */
    public StaleVersionException() {
        super("the record was changed or deleted after it was read");
    }
}
