// SPDX-License-Identifier: Apache-2.0
// The arguments of a command, checked as they are asked for.
package benchlab.kit;

import java.util.Map;
import java.util.regex.Pattern;

/** The arguments of {@code open}: the case's parameters, and the seed of its inputs. */
public final class Arguments {
    private static final long RATE_MAX = 1_000_000;
    private static final Pattern DIGITS = Pattern.compile("[0-9]+");

    private final Map<String, String> values;

    /**
     * The arguments of one command. {@link Lab} makes them; other programs, such as a benchmark, do
     * so to open a case themselves.
     */
    public Arguments(Map<String, String> values) {
        this.values = values;
    }

    boolean has(String key) {
        return values.containsKey(key);
    }

    /** @throws Refusal if the argument is missing */
    public String text(String key) throws Refusal {
        String value = values.get(key);
        if (value == null) {
            throw Refusal.usage("the argument " + key + " is missing");
        }
        return value;
    }

    /** @throws Refusal if the argument is missing or not a whole number from least to most */
    public long integer(String key, long least, long most) throws Refusal {
        String value = text(key);
        try {
            long number = Long.parseLong(value);
            if (DIGITS.matcher(value).matches() && number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Refused below, like a number that is out of range.
        }
        throw Refusal.usage(key + " is not a whole number from " + least + " to " + most);
    }

    /** How many operations are due in a second; 0 if the case has no rate. */
    public long rate() throws Refusal {
        return has("rate") ? integer("rate", 1, RATE_MAX) : 0;
    }

    /** The inputs of the case, computed from its seed. */
    public Sequence sequence() throws Refusal {
        return new Sequence(seed());
    }

    /** The seed, an unsigned 64-bit number. */
    long seed() throws Refusal {
        String value = text("seed");
        try {
            if (DIGITS.matcher(value).matches()) {
                return Long.parseUnsignedLong(value);
            }
        } catch (NumberFormatException e) {
            // Refused below, like a text that is no number.
        }
        throw Refusal.usage("seed is not an unsigned 64-bit number");
    }
}
