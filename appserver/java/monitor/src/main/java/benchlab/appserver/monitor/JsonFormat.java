// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.util.Locale;

/** Writes the metrics of a monitor as one JSON document, without whitespace. */
final class JsonFormat {

    private final Monitor monitor;
    private final StringBuilder text = new StringBuilder();

    JsonFormat(Monitor monitor) {
        this.monitor = monitor;
    }

    String write(String application) {
        text.append("{\"monitor\":1,");
        if (!application.isEmpty()) {
            text.append("\"application\":");
            putText(application);
            text.append(',');
        }
        putSeconds("started_unix_s", monitor.startedMillis());
        putSeconds("now_unix_s", System.currentTimeMillis());
        text.append("\"bucket_width\":").append(1.0 / Histogram.PARTS).append(",\"pages\":[");
        for (Page page : monitor.pages()) {
            putPage(page);
            text.append(',');
        }
        endList("]}");
        return text.toString();
    }

    private void putPage(Page page) {
        Statistics statistics = page.statistics();
        putStatistics(page.name, statistics);
        text.append(",\"client_errors\":").append(statistics.clientErrors);
        text.append(",\"cpu_ns\":").append(statistics.cpu);
        text.append(",\"hours\":[");
        for (Page.Hour hour : page.hours()) {
            if (hour.count() > 0) {
                text.append('[').append(3_600 * hour.hour()).append(',').append(hour.count());
                text.append(',').append(hour.errors()).append(',').append(hour.total());
                text.append("],");
            }
        }
        endList("],\"queries\":[");
        for (int number = 0; number < page.queryNumbers(); number++) {
            if (page.query(number) != null) {
                var query = new Statistics();
                page.query(number).addTo(query);
                putStatistics(monitor.queryName(number), query);
                text.append("},");
            }
        }
        endList("],\"slowest\":[");
        for (Example example : page.slowest()) {
            putExample(example);
            text.append(',');
        }
        endList("]}");
    }

    /** Writes an object with the name and the statistics, without the closing brace. */
    private void putStatistics(String name, Statistics statistics) {
        text.append("{\"name\":");
        putText(name);
        text.append(",\"count\":").append(statistics.count());
        text.append(",\"errors\":").append(statistics.errors);
        text.append(",\"total_ns\":").append(statistics.total);
        text.append(",\"max_ns\":").append(statistics.max);
        text.append(",\"times\":[");
        for (int bucket = 0; bucket < Histogram.BUCKETS; bucket++) {
            long count = statistics.times.countIn(bucket);
            if (count > 0) {
                text.append('[').append(Histogram.upperBound(bucket)).append(',');
                text.append(count).append("],");
            }
        }
        endList("]");
    }

    private void putExample(Example example) {
        text.append('{');
        putSeconds("at_unix_s", example.startedMillis());
        text.append("\"ns\":").append(example.nanos());
        if (example.cpuNanos() >= 0) {
            text.append(",\"cpu_ns\":").append(example.cpuNanos());
        }
        text.append(",\"status\":").append(example.status()).append(",\"path\":");
        putText(example.path());
        text.append(",\"queries\":[");
        for (Example.Part part : example.parts()) {
            text.append("{\"name\":");
            putText(monitor.queryName(part.query()));
            text.append(",\"count\":").append(part.count());
            text.append(",\"ns\":").append(part.nanos()).append("},");
        }
        endList("]}");
    }

    private void putSeconds(String name, long millis) {
        text.append(
                String.format(Locale.ROOT, "\"%s\":%d.%03d,", name, millis / 1_000, millis % 1_000));
    }

    /** Appends {@code end}, and removes the comma after the last element if there is one. */
    private void endList(String end) {
        int last = text.length() - 1;
        if (text.charAt(last) == ',') {
            text.setLength(last);
        }
        text.append(end);
    }

    private void putText(String value) {
        text.append('"');
        for (int k = 0; k < value.length(); k++) {
            char c = value.charAt(k);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ' || c >= 0x7F && c < 0xA0 || Character.isSurrogate(c)) {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
