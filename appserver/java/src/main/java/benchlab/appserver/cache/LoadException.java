// SPDX-License-Identifier: Apache-2.0
// A value that could not be loaded.
package benchlab.appserver.cache;

/** A loader failed: what it threw is the cause. Or it waited for itself: then there is no cause. */
public final class LoadException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LoadException(Throwable cause) {
        super("loading failed: " + cause, cause);
    }

    LoadException(String message) {
        super(message);
    }
}
