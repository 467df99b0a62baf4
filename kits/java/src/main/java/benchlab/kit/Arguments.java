// SPDX-License-Identifier: Apache-2.0
package benchlab.kit;

import java.util.Map;
import java.util.regex.Pattern;

/** The arguments of {@code open}: the case's parameters, and the seed of its inputs. */
public final class Arguments {
    private static final long RATE_MAX = 1_000_000;
    private static final Pattern DIGITS = Pattern.compile("[0-9]+");

    private final Map<String, String> values;

    /**
     * Creates the arguments of one command. {@link Lab} calls this constructor for each command;
     * other programs, such as benchmarks, call it to open a case directly.
     *
     * @param values the decoded values by key
     */
    public Arguments(Map<String, String> values) {
        this.values = values;
    }

    boolean has(String key) {
        return values.containsKey(key);
    }

    /**
     * Returns a required argument.
     *
     * @param key the key
     * @return the value
     * @throws Refusal if the argument is missing
     */
    public String text(String key) throws Refusal {
        String value = values.get(key);
        if (value == null) {
            throw Refusal.usage("the argument " + key + " is missing");
        }
        return value;
    }

    /**
     * Returns a required argument as a number.
     *
     * @param key the key
     * @param least the minimum
     * @param most the maximum
     * @return the value
     * @throws Refusal if the argument is missing or not an integer from {@code least} to {@code
     *     most}
     */
    public long integer(String key, long least, long most) throws Refusal {
        String value = text(key);
        try {
            long number = Long.parseLong(value);
            if (DIGITS.matcher(value).matches() && number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Rejected below, like a number that is out of range.
        }
        throw Refusal.usage(key + " is not a whole number from " + least + " to " + most);
    }

    /**
     * Returns the number of operations that are due per second.
     *
     * @return the rate; 0 if the case has no rate
     * @throws Refusal if the rate is invalid
     */
    public long rate() throws Refusal {
        return has("rate") ? integer("rate", 1, RATE_MAX) : 0;
    }

    /**
     * Returns the inputs of the case, computed from its seed.
     *
     * @return the inputs
     * @throws Refusal if the seed is missing or invalid
     */
    public Sequence sequence() throws Refusal {
        return new Sequence(seed());
    }

    /** Returns the seed, an unsigned 64-bit number. */
    long seed() throws Refusal {
        String value = text("seed");
        try {
            if (DIGITS.matcher(value).matches()) {
                return Long.parseUnsignedLong(value);
            }
        } catch (NumberFormatException e) {
            // Rejected below, like text that is not a number.
        }
        throw Refusal.usage("seed is not an unsigned 64-bit number");
    }
}
