// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

/**
 * Thrown if a loader failed or waited for itself, or if the thread was interrupted while it waited
 * for another thread's loader. The cause is the loader's exception, null, or an {@link
 * InterruptedException}, respectively.
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
