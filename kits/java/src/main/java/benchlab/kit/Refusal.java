// SPDX-License-Identifier: Apache-2.0
// A command that cannot be carried out as it was given.
package benchlab.kit;

/** Thrown where the command is at fault; any other exception means that the work itself failed. */
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

    /** An unknown command, a missing or malformed argument, a command out of order. */
    public static Refusal usage(String message) {
        return new Refusal(Code.USAGE, message);
    }

    /** A case, or a value of one of its parameters, that this subject does not have. */
    public static Refusal unsupported(String message) {
        return new Refusal(Code.UNSUPPORTED, message);
    }

    Code code() {
        return code;
    }
}
