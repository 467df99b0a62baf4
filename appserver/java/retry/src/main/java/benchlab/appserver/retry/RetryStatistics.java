// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * Statistics of {@link RetryMetrics}. The values are read while calls continue, so a call in
 * progress may be included in only some of them.
 *
 * @param calls the number of calls, excluding nested calls
 * @param faults the number of failed attempts by fault; contains all faults
 * @param retries the number of retries
 * @param givenUp the number of calls that failed with a transient error
 * @param timeInFailedAttempts the total time from the start of each call to the start of its last
 *     attempt, or to the end of the call if that attempt failed
 */
public record RetryStatistics(
        long calls,
        Map<Fault, Long> faults,
        long retries,
        long givenUp,
        Duration timeInFailedAttempts) {

    private static final String FAULTS =
            "appserver_retry_faults_total{policy=\"%s\",fault=\"%s\"} %d\n";

    public RetryStatistics {
        Map<Fault, Long> copy = new EnumMap<>(Fault.class);
        copy.putAll(faults);
        faults = Collections.unmodifiableMap(copy);
    }

    /**
     * Writes statistics in Prometheus's text format, version 0.0.4.
     *
     * @param statistics the statistics by name, which becomes the label {@code policy}
     * @return the text
     */
    public static String prometheus(Map<String, RetryStatistics> statistics) {
        var text = new StringBuilder();
        append(text, "calls_total", "Calls.", statistics, RetryStatistics::calls);
        appendFaults(text, statistics);
        append(text, "retries_total", "Retries.", statistics, RetryStatistics::retries);
        append(text, "given_up_total", "Calls that failed with a transient error.", statistics, RetryStatistics::givenUp);
        append(text, "lost_seconds_total", "Time spent in failed attempts and delays.", statistics, RetryStatistics::seconds);
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
        appendHead(text, "faults_total", "Failed attempts.");
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
