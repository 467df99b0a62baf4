// SPDX-License-Identifier: Apache-2.0
// A program under test, as the kit sees it.
package benchlab.kit;

/** The part of a subject that is its own; {@link Lab} does the rest. */
public interface Subject {

    /** The name that the experiment gives this subject, such as {@code java}. */
    String name();

    /** The driver or library under test with its version, such as {@code sqlite-jdbc 3.53.4.0}. */
    String library();

    /**
     * Opens a case. Whatever was taken before an exception is thrown has been released. The case
     * {@code noop} is the kit's own and is never asked for here.
     *
     * @throws Refusal if there is no such case, or an argument is missing or wrong
     * @throws Exception if opening failed; the library's message is passed on
     */
    Case open(String name, Arguments arguments) throws Exception;
}
