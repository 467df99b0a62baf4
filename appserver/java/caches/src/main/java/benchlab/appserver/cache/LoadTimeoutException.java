// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

/** Thrown if another thread did not load the value within the timeout. */
public final class LoadTimeoutException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LoadTimeoutException(String message) {
        super(message);
    }
}
