// SPDX-License-Identifier: Apache-2.0
// What retries did.
package benchlab.appserver.retry;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * Statistics of a {@link RetryMetrics}. They are read without stopping anybody, so that those of a call
 * that is under way may be in one figure and not in another.
 *
 * @param calls how many calls began; one inside another does not count
 * @param faults how many attempts failed, by class; each class is in it
 * @param retries how many attempts were made after a failed one
 * @param givenUp how many calls ended with a fault other than {@link Fault#PERMANENT}
 * @param timeInFailedAttempts the time from the begin of each call to the begin of its last attempt, or to its end
 *     if that failed, all together
 */
public record RetryStatistics(
        long calls, Map<Fault, Long> faults, long retries, long givenUp, Duration timeInFailedAttempts) {

    private static final String FAULTS =
            "appserver_retry_faults_total{policy=\"%s\",fault=\"%s\"} %d\n";

    public RetryStatistics {
        Map<Fault, Long> copy = new EnumMap<>(Fault.class);
        copy.putAll(faults);
        faults = Collections.unmodifiableMap(copy);
    }

    /**
     * The statistics of several metrics, by their names, as Prometheus reads them (text format 0.0.4):
     * a name is the label {@code policy}.
     */
    public static String prometheus(Map<String, RetryStatistics> statistics) {
        var text = new StringBuilder();
        append(text, "calls_total", "Calls that began.", statistics, RetryStatistics::calls);
        appendFaults(text, statistics);
        append(text, "retries_total", "Attempts made again.", statistics, RetryStatistics::retries);
        append(text, "given_up_total", "Calls that a fault ended.", statistics, RetryStatistics::givenUp);
        append(text, "lost_seconds_total", "Time lost by faults.", statistics, RetryStatistics::seconds);
        return text.toString();
    }

    private static void append(
            StringBuilder text,
            String metric,
            String help,
            Map<String, RetryStatistics> statistics,
            Function<RetryStatistics, Object> value) {
        appendHead(text, metric, help);
        statistics.forEach(
                (policy, each) ->
                        text.append("appserver_retry_%s{policy=\"%s\"} %s\n"
                                .formatted(metric, escaped(policy), value.apply(each))));
    }

    private static void appendFaults(StringBuilder text, Map<String, RetryStatistics> statistics) {
        appendHead(text, "faults_total", "Attempts that failed.");
        statistics.forEach(
                (policy, each) ->
                        each.faults.forEach(
                                (fault, count) ->
                                        text.append(FAULTS.formatted(
                                                escaped(policy), fault.label(), count))));
    }

    private static void appendHead(StringBuilder text, String metric, String help) {
        text.append("# HELP appserver_retry_%s %s\n".formatted(metric, help));
        text.append("# TYPE appserver_retry_%s counter\n".formatted(metric));
    }

    private String seconds() {
        return String.format(Locale.ROOT, "%d.%09d", timeInFailedAttempts.getSeconds(), timeInFailedAttempts.getNano());
    }

    private static String escaped(String label) {
        return Objects.requireNonNull(label, "policy")
                .replace("\\", "\\\\")
                .replace("\"", "\\\"")
                .replace("\n", "\\n");
    }
}
