// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** Writes the metrics of a monitor in the text format of Prometheus. */
final class PrometheusFormat {

    private static final String PREFIX = "appserver_monitor_";

    /** The exponent of the first bucket bound: 2<sup>14</sup> ns, or 16 µs. */
    private static final int FIRST_BOUND = 14;

    /** The exponent of the last bucket bound: 2<sup>36</sup> ns, or 69 s. */
    private static final int LAST_BOUND = 36;

    private final Monitor monitor;
    private final List<Page> pages;
    private final StringBuilder text = new StringBuilder();

    PrometheusFormat(Monitor monitor) {
        this.monitor = monitor;
        pages = monitor.pages();
    }

    String write() {
        putHead("page_seconds", "histogram", "Response times.");
        pages.forEach(this::putHistogram);
        putPages("page_errors_total", "Responses with status 500 or above.", each -> each.errors);
        putPages("page_client_errors_total", "Responses with status 400 to 499.", each -> each.clientErrors);
        putPages("page_cpu_seconds_total", "Estimated CPU time.", each -> seconds(each.cpu));
        putQueries("queries_total", "Executions of queries.", Statistics::count);
        putQueries("query_errors_total", "Failed executions of queries.", each -> each.errors);
        putQueries("query_seconds_total", "Total time of queries.", each -> seconds(each.total));
        return text.toString();
    }

    private void putHead(String metric, String kind, String help) {
        text.append("# HELP ").append(PREFIX).append(metric).append(' ').append(help).append('\n');
        text.append("# TYPE ").append(PREFIX).append(metric).append(' ').append(kind).append('\n');
    }

    private void putHistogram(Page page) {
        Statistics statistics = page.statistics();
        String label = label("page", page.name);
        long below = 0;
        int next = 0;
        for (int power = FIRST_BOUND; power <= LAST_BOUND; power++) {
            long bound = (1L << power) - 1;
            for (; Histogram.upperBound(next) <= bound; next++) {
                below += statistics.times.countIn(next);
            }
            put("page_seconds_bucket", label + ",le=\"" + seconds(bound) + '"', below);
        }
        put("page_seconds_bucket", label + ",le=\"+Inf\"", statistics.count());
        put("page_seconds_sum", label, seconds(statistics.total));
        put("page_seconds_count", label, statistics.count());
    }

    private void putPages(String metric, String help, Function<Statistics, Object> value) {
        putHead(metric, "counter", help);
        for (Page page : pages) {
            put(metric, label("page", page.name), value.apply(page.statistics()));
        }
    }

    private void putQueries(String metric, String help, Function<Statistics, Object> value) {
        putHead(metric, "counter", help);
        for (Page page : pages) {
            for (int number = 0; number < page.queryNumbers(); number++) {
                if (page.query(number) != null) {
                    var statistics = new Statistics();
                    page.query(number).addTo(statistics);
                    String query = label("query", monitor.queryName(number));
                    put(metric, label("page", page.name) + ',' + query, value.apply(statistics));
                }
            }
        }
    }

    private void put(String metric, String labels, Object value) {
        text.append(PREFIX).append(metric).append('{').append(labels).append("} ");
        text.append(value).append('\n');
    }

    private static String label(String name, String value) {
        return name
                + "=\""
                + value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n")
                + '"';
    }

    /** Formats nanoseconds as seconds, with nine decimal places. */
    private static String seconds(long nanos) {
        return String.format(
                Locale.ROOT, "%d.%09d", nanos / 1_000_000_000, nanos % 1_000_000_000);
    }
}
