// SPDX-License-Identifier: Apache-2.0
// What the API says, whatever the server.
package benchlab.rest;

import java.util.Optional;
import java.util.regex.Pattern;

final class Greetings {
    /** The constant, as it is sent. */
    static final String WORLD = "{\"greeting\":\"Hello World!\"}";

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,6}");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9 .'\"-]{1,32}");

    private Greetings() {}

    record Greeting(String greeting) {}

    record NumberedGreeting(String greeting, int number) {}

    /** @param number from 0 to 999999, or there is no greeting; null if there was none */
    static Optional<NumberedGreeting> built(String number) {
        return Optional.ofNullable(number)
                .filter(NUMBER.asMatchPredicate())
                .map(digits -> new NumberedGreeting("Hello World!", Integer.parseInt(digits)));
    }

    /** @param name to be greeted: 1 to 32 of few characters, or there is no greeting */
    static Optional<Greeting> hello(String name) {
        return Optional.of(name)
                .filter(NAME.asMatchPredicate())
                .map(valid -> new Greeting("Hello " + valid + "!"));
    }
}
