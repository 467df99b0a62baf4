// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

/** Thrown if the record was changed or deleted after it was read. */
public final class StaleVersionException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** For tests, and for other ways to find out that a version is stale. */
    public StaleVersionException() {
        super("the record was changed or deleted after it was read");
    }
}
