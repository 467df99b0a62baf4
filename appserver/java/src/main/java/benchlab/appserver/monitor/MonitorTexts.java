// SPDX-License-Identifier: Apache-2.0
// The metrics of a monitor, for programs and for people.
package benchlab.appserver.monitor;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Writes the metrics of a {@link Monitor}. Nobody waits for it. */
public final class MonitorTexts {

    /** The media type of {@link #prometheus}. */
    public static final String PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    /** For the field {@code Content-Security-Policy} of {@link #html}. */
    public static final String POLICY =
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
                    + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final String PLACE = "@FIGURES@";

    private MonitorTexts() {}

    /**
     * As {@code benchlab logs} reads them: docs/guides/logs.md of benchlab has the format.
     *
     * @param application a name for people; empty if there is none
     */
    public static String json(Monitor monitor, String application) {
        return new JsonFormat(monitor).write(application);
    }

    /**
     * As Prometheus reads them (text format 0.0.4): the metrics {@code
     * appserver_monitor_page_seconds}, a histogram with a bound at each power of two from 16 µs to
     * 69 s, {@code …_page_errors_total}, {@code …_page_client_errors_total}, {@code
     * …_page_cpu_seconds_total} with the label {@code page}; and {@code …_queries_total}, {@code
     * …_query_errors_total}, {@code …_query_seconds_total} with {@code page} and {@code query}.
     */
    public static String prometheus(Monitor monitor) {
        return new PrometheusFormat(monitor).write();
    }

    /**
     * A page for a browser: which few pages take the time, and when. It needs nothing from
     * elsewhere, so it can be kept and sent.
     */
    public static String html(Monitor monitor, String application) {
        // No "<", so that no name ends the element that the metrics are in.
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
