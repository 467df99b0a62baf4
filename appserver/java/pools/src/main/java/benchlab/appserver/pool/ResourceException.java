// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

/** Thrown if the pool's factory failed. The cause is the factory's exception. */
public final class ResourceException extends RuntimeException {
    private static final long serialVersionUID = 1;

    ResourceException(Throwable cause) {
        super("the pool's factory failed: " + cause, cause);
    }
}
