// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

/**
 * A loader failed, with its exception as the cause, or waited for itself, in which case there is no
 * cause.
 */
public final class LoadException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LoadException(Throwable cause) {
        super("loading failed: " + cause, cause);
    }

    LoadException(String message) {
        super(message);
    }
}
