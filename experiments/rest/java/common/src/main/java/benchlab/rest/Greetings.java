// SPDX-License-Identifier: Apache-2.0
// The content of the API's responses, independent of the server.
package benchlab.rest;

import java.util.Optional;
import java.util.regex.Pattern;

final class Greetings {
    /** The JSON text of the constant document. */
    static final String WORLD = "{\"greeting\":\"Hello World!\"}";

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,6}");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9 .'\"-]{1,32}");

    private Greetings() {}

    record Greeting(String greeting) {}

    record NumberedGreeting(String greeting, int number) {}

    /**
     * Builds a numbered greeting.
     *
     * @param number a number from 0 to 999999; null if it is missing
     * @return the greeting; empty if the number is invalid
     */
    static Optional<NumberedGreeting> built(String number) {
        return Optional.ofNullable(number)
                .filter(NUMBER.asMatchPredicate())
                .map(digits -> new NumberedGreeting("Hello World!", Integer.parseInt(digits)));
    }

    /**
     * Builds a greeting.
     *
     * @param name the name to greet: 1 to 32 characters of a limited set
     * @return the greeting; empty if the name is invalid
     */
    static Optional<Greeting> hello(String name) {
        return Optional.of(name)
                .filter(NAME.asMatchPredicate())
                .map(valid -> new Greeting("Hello " + valid + "!"));
    }
}
