// SPDX-License-Identifier: Apache-2.0
// What a batch of operations produced.
package benchlab.kit;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The outcome of {@link Case#perform(long)}. Units and check are equal for every subject that did
 * the same work.
 *
 * @param units what the operations produced, in the case's unit: rows, bytes
 * @param check the sum modulo 2<sup>64</sup> of every value they produced, as an unsigned number
 * @param times when the operations were done, where several were done at once; else null, and the
 *     kit's own readings of the clock tell
 * @param metrics of the experiment, by their names: finite, of less than 10<sup>17</sup>
 * @param failed the numbers of the operations that failed, ascending, where operations may fail and
 *     that is what is measured; else null
 */
public record Result(
        long units, long check, Times times, Map<String, Double> metrics, List<Long> failed) {

    /** The result of operations that cannot fail. */
    public Result(long units, long check, Times times, Map<String, Double> metrics) {
        this(units, check, times, metrics, null);
    }

    /** The result of operations that were done one after the other. */
    public Result(long units, long check) {
        this(units, check, null, Map.of());
    }

    /** This result with one more metric, whose name matches {@code [a-z][a-z0-9_]*}. */
    public Result with(String metric, double value) {
        var more = new TreeMap<>(metrics);
        more.put(metric, value);
        return new Result(units, check, times, Collections.unmodifiableMap(more), failed);
    }

    /**
     * This result with the operations that failed.
     *
     * @param numbers counted from 0 in the batch, in any order; empty if none failed
     */
    public Result withFailed(Collection<Long> numbers) {
        return new Result(units, check, times, metrics, numbers.stream().sorted().toList());
    }

    /**
     * @param start {@link System#nanoTime()} at the start of the first operation
     * @param end {@link System#nanoTime()} at the end of the last one
     * @param latencies of every single operation; null if the case tells none
     */
    public record Times(long start, long end, Latencies latencies) {}
}
