// SPDX-License-Identifier: Apache-2.0
// Formats numbers for the protocol, with consecutive numbers as ranges.
package benchlab.kit;

import java.util.List;
import java.util.StringJoiner;

final class Ranges {
    private Ranges() {}

    /** Formats ascending numbers, such as {@code 3,17-19}, or {@code none}. */
    static String format(List<Long> numbers) {
        var ranges = new StringJoiner(",").setEmptyValue("none");
        for (int first = 0, last; first < numbers.size(); first = last + 1) {
            last = first;
            while (last + 1 < numbers.size() && numbers.get(last + 1) == numbers.get(last) + 1) {
                last++;
            }
            ranges.add(
                    first == last
                            ? numbers.get(first).toString()
                            : numbers.get(first) + "-" + numbers.get(last));
        }
        return ranges.toString();
    }
}
