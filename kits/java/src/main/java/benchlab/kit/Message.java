// SPDX-License-Identifier: Apache-2.0
package benchlab.kit;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A command or a reply: a verb and its arguments, as words on a line.
 *
 * @param verb the first word
 * @param arguments the decoded values, in the order of the line
 */
record Message(String verb, Map<String, String> arguments) {
    private static final Pattern KEY = Pattern.compile("[a-z][a-z0-9_]*");

    Message(String verb) {
        this(verb, new LinkedHashMap<>());
    }

    Message with(String key, String value) {
        arguments.put(key, value);
        return this;
    }

    Message with(String key, long unsigned) {
        return with(key, Long.toUnsignedString(unsigned));
    }

    /**
     * Parses a command.
     *
     * @param line the line without its LF, one character per byte
     * @return the command
     * @throws Refusal if a word is not {@code key=value} or a key is repeated
     */
    static Message parse(String line) throws Refusal {
        String[] words = line.split(" ", -1);
        var message = new Message(words[0]);
        for (int i = 1; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            if (equals < 0 || !KEY.matcher(words[i]).region(0, equals).matches()) {
                throw Refusal.usage("word " + (i + 1) + " is not key=value");
            }
            String key = words[i].substring(0, equals);
            String value = PercentCoding.decode(words[i].substring(equals + 1));
            if (message.arguments.putIfAbsent(key, value) != null) {
                throw Refusal.usage("the argument " + key + " is repeated");
            }
        }
        return message;
    }

    /** Returns the line of a reply, without its LF. */
    String format() {
        var line = new StringBuilder("@lab ").append(verb);
        arguments.forEach(
                (key, value) ->
                        line.append(' ').append(key).append('=').append(PercentCoding.encode(value)));
        return line.toString();
    }
}
