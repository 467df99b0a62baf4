// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

/**
 * The exit status of a program: it exited with a code, or a signal killed it.
 *
 * <p>Java reports both as one number, as shells do: a signal becomes 128 + its number. A program
 * that exits with a code from 129 to 159 therefore looks as if a signal had killed it. Shells use
 * these codes for that purpose.
 */
public sealed interface ExitStatus {

    /**
     * The program exited.
     *
     * @param code 0 to 128 or 160 to 255; 0 means success
     */
    record Exited(int code) implements ExitStatus {
        @Override
        public String toString() {
            return "exited with code " + code;
        }
    }

    /**
     * A signal killed the program.
     *
     * @param number the signal number, 1 to 31; for example, 9 is SIGKILL and 15 is SIGTERM
     */
    record Signaled(int number) implements ExitStatus {
        @Override
        public String toString() {
            return "killed by signal " + number;
        }
    }

    /**
     * Returns true if the program exited with code 0.
     *
     * @return true for success
     */
    default boolean isSuccess() {
        return this instanceof Exited exited && exited.code() == 0;
    }

    /** Converts the result of {@link Process#waitFor()}. */
    static ExitStatus of(int exitValue) {
        int signal = exitValue - 128;
        return signal >= 1 && signal <= 31 ? new Signaled(signal) : new Exited(exitValue);
    }
}
