// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

/**
 * Thrown if the idempotency key was already used for another request. This is a client error, and the call had no
 * effect. An HTTP server responds with status 422. The fault is {@link Fault#PERMANENT}.
 */
public final class KeyReusedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    KeyReusedException(String id) {
        super("the idempotency key was used for another request: " + id);
    }
}
