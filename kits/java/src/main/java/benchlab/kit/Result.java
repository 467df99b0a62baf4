// SPDX-License-Identifier: Apache-2.0
package benchlab.kit;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The result of {@link Case#perform(long)}. Units and check are equal for all subjects that did the
 * same work.
 *
 * @param units the amount that the operations produced, in the case's unit, such as rows or bytes
 * @param check the sum of all values that they produced, modulo 2<sup>64</sup>, as an unsigned
 *     number
 * @param times the time of concurrent operations; null to use the kit's own clock readings
 * @param metrics metrics of the experiment by name, finite and less than 10<sup>17</sup>
 * @param failed the numbers of the failed operations in ascending order, if operations may fail and
 *     failures are measured; otherwise null
 */
public record Result(
        long units, long check, Times times, Map<String, Double> metrics, List<Long> failed) {

    /**
     * Creates the result of operations that cannot fail.
     *
     * @param units the amount that the operations produced
     * @param check the sum of all values that they produced
     * @param times the time of concurrent operations; null to use the kit's own clock readings
     * @param metrics metrics of the experiment by name
     */
    public Result(long units, long check, Times times, Map<String, Double> metrics) {
        this(units, check, times, metrics, null);
    }

    /**
     * Creates the result of sequential operations.
     *
     * @param units the amount that the operations produced
     * @param check the sum of all values that they produced
     */
    public Result(long units, long check) {
        this(units, check, null, Map.of());
    }

    /**
     * Returns a copy with one more metric.
     *
     * @param metric the name, which matches {@code [a-z][a-z0-9_]*}
     * @param value the value
     * @return the result
     */
    public Result with(String metric, double value) {
        var more = new TreeMap<>(metrics);
        more.put(metric, value);
        return new Result(units, check, times, Collections.unmodifiableMap(more), failed);
    }

    /**
     * Returns a copy with the failed operations.
     *
     * @param numbers the numbers of the failed operations, counted from 0 in the batch, in any
     *     order; empty if none failed
     * @return the result
     */
    public Result withFailed(Collection<Long> numbers) {
        return new Result(units, check, times, metrics, numbers.stream().sorted().toList());
    }

    /**
     * The time of concurrent operations.
     *
     * @param start {@link System#nanoTime()} at the start of the first operation
     * @param end {@link System#nanoTime()} at the end of the last operation
     * @param latencies the latency of every operation; null if the case does not report latencies
     */
    public record Times(long start, long end, Latencies latencies) {}
}
