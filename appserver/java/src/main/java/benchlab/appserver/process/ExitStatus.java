// SPDX-License-Identifier: Apache-2.0
// How a program ended.
package benchlab.appserver.process;

/**
 * How a program ended: it exited with a code, or a signal killed it.
 *
 * <p>Java has one number for both, as shells do: 128 + the signal. So a program that exits by
 * itself with a code of 129 to 159 is taken for one that a signal killed. Shells use these codes
 * for just that.
 */
public sealed interface ExitStatus {

    /**
     * It exited.
     *
     * @param code 0 to 128 and 160 to 255; 0 is success
     */
    record Exited(int code) implements ExitStatus {
        @Override
        public String toString() {
            return "exited with code " + code;
        }
    }

    /**
     * A signal killed it.
     *
     * @param number 1 to 31, as the system counts: 9 is SIGKILL, 15 is SIGTERM
     */
    record Signaled(int number) implements ExitStatus {
        @Override
        public String toString() {
            return "killed by signal " + number;
        }
    }

    /** True if it exited with code 0. */
    default boolean isSuccess() {
        return this instanceof Exited exited && exited.code() == 0;
    }

    /** From what {@link Process#waitFor()} returns. */
    static ExitStatus of(int exitValue) {
        int signal = exitValue - 128;
        return signal >= 1 && signal <= 31 ? new Signaled(signal) : new Exited(exitValue);
    }
}
