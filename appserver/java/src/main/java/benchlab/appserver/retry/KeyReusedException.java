// SPDX-License-Identifier: Apache-2.0
// A key that was used for another request.
package benchlab.appserver.retry;

/**
 * The key of a call was used for another request before: an error of the client, without any effect.
 * HTTP responds with 422. It is {@link Fault#PERMANENT}.
 */
public final class KeyReusedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    KeyReusedException(String id) {
        super("the key is another request's: " + id);
    }
}
