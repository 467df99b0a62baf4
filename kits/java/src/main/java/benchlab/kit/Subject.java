// SPDX-License-Identifier: Apache-2.0
package benchlab.kit;

/** A program under test: the code that each subject has to implement; {@link Lab} does the rest. */
public interface Subject {

    /**
     * Returns the subject's name in the experiment, such as {@code java}. The system property {@code
     * benchlab.subject} replaces it, where one program is multiple subjects.
     *
     * @return the name
     */
    String name();

    /**
     * Returns the driver or library under test with its version, such as {@code sqlite-jdbc
     * 3.53.4.0}.
     *
     * @return the library
     */
    String library();

    /**
     * Opens a case. Before throwing an exception, this method must release all resources. It is
     * never called for the case {@code noop}, which the kit implements.
     *
     * @param name the name of the case
     * @param arguments the arguments of the case
     * @return the open case
     * @throws Refusal if there is no such case, or an argument is missing or invalid
     * @throws Exception if opening failed; the reply contains the message
     */
    Case open(String name, Arguments arguments) throws Exception;
}
