// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

/** The pool's factory failed; its exception is the cause. */
public final class ResourceException extends RuntimeException {
    private static final long serialVersionUID = 1;

    ResourceException(Throwable cause) {
        super("the pool's factory failed: " + cause, cause);
    }
}
