// SPDX-License-Identifier: Apache-2.0
package benchlab.kit;

/**
 * Thrown if a command is invalid or not supported. Any other exception means that the work itself
 * failed.
 */
public final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    enum Code {
        USAGE,
        UNSUPPORTED
    }

    private final Code code;

    private Refusal(Code code, String message) {
        super(message);
        this.code = code;
    }

    /**
     * Creates an exception for an unknown command, a missing or malformed argument, or a command
     * out of order.
     *
     * @param message the message
     * @return the exception
     */
    public static Refusal usage(String message) {
        return new Refusal(Code.USAGE, message);
    }

    /**
     * Creates an exception for a case, or a value of a parameter, that this subject does not
     * support.
     *
     * @param message the message
     * @return the exception
     */
    public static Refusal unsupported(String message) {
        return new Refusal(Code.UNSUPPORTED, message);
    }

    Code code() {
        return code;
    }
}
