// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

/** Thrown if the record was changed or deleted after it was read. */
public final class StaleVersionException extends RuntimeException {
    private static final long serialVersionUID = 1;

    StaleVersionException() {
        super("the record was changed or deleted after it was read");
    }
}
