// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

/**
 * Thrown if a loader failed (the cause is the loader's exception), or if a loader waited for
 * itself (there is no cause).
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
