// SPDX-License-Identifier: Apache-2.0
// An optimistic lock that somebody else has broken.
package benchlab.appserver.retry;

/** The record has another version than the one that was read, or is gone. */
public final class StaleVersionException extends RuntimeException {
    private static final long serialVersionUID = 1;

    StaleVersionException() {
        super("the record has changed since it was read, or is gone");
    }
}
