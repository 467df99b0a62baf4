// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * Writes the metrics of a {@link Monitor} for programs and for people. Does not block threads that
 * record.
 */
public final class MonitorTexts {

    /** The media type of {@link #prometheus}. */
    public static final String PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    /** The value of the header {@code Content-Security-Policy} for {@link #html}. */
    public static final String POLICY =
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
                    + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final String PLACE = "@FIGURES@";

    private MonitorTexts() {}

    /**
     * Writes the metrics as JSON for {@code benchlab logs}. See docs/log-formats.md of benchlab for
     * the format.
     *
     * @param monitor the monitor
     * @param application a name of the application for display; may be empty
     * @return the document
     */
    public static String json(Monitor monitor, String application) {
        return new JsonFormat(monitor).write(application);
    }

    /**
     * Writes the metrics in the text format of Prometheus, version 0.0.4. With the label {@code
     * page}: {@code appserver_monitor_page_seconds}, a histogram with a bound at each power of two
     * from 16 µs to 69 s, {@code …_page_errors_total}, {@code …_page_client_errors_total} and
     * {@code …_page_cpu_seconds_total}. With the labels {@code page} and {@code query}: {@code
     * …_queries_total}, {@code …_query_errors_total} and {@code …_query_seconds_total}.
     *
     * @param monitor the monitor
     * @return the document
     */
    public static String prometheus(Monitor monitor) {
        return new PrometheusFormat(monitor).write();
    }

    /**
     * Writes a page for a browser that shows which pages take the most time, and when. The page is
     * self-contained, so it can be saved and sent.
     *
     * @param monitor the monitor
     * @param application a name of the application for display; may be empty
     * @return the document
     */
    public static String html(Monitor monitor, String application) {
        // Escapes "<", so that no name closes the element that contains the metrics.
        return template().replace(PLACE, json(monitor, application).replace("<", "\\u003c"));
    }

    private static String template() {
        try (InputStream in =
                MonitorTexts.class.getResourceAsStream("appserver_monitor_page.html")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
