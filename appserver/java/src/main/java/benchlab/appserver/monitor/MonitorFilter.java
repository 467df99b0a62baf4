// SPDX-License-Identifier: Apache-2.0
// Counts the requests of servlets, and shows the figures.
package benchlab.appserver.monitor;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * To be in front of all other filters, with support of asynchronous requests, for requests alone
 * (the dispatcher {@code REQUEST}). Then {@code /monitor} in the application is a page for a
 * browser, the text format for Prometheus, and JSON for all others, such as {@code benchlab watch};
 * {@code /monitor/page}, {@code /monitor/metrics} and {@code /monitor/json} are one of them each.
 * These requests are not counted.
 *
 * <p>An asynchronous request takes until it is complete; its CPU time, and the queries of other
 * threads, are not those of its page. A request whose servlet throws counts as 500.
 */
public final class MonitorFilter implements Filter {

    private static final String PATH = "/monitor";

    private final Monitor monitor;
    private final String application;
    private final Predicate<HttpServletRequest> mayBeSeen;

    /** Shows {@link Monitor#shared}: for containers that make the filter by its class name. */
    public MonitorFilter() {
        this(Monitor.shared(), "", MonitorFilter::asksForItself);
    }

    /** Shows the figures to this machine alone. */
    public MonitorFilter(Monitor monitor) {
        this(monitor, "", MonitorFilter::asksForItself);
    }

    /**
     * Shows the figures to whom the application says.
     *
     * @param application a name for people; may be empty
     * @param mayBeSeen whose requests are not answered with 403
     */
    public MonitorFilter(
            Monitor monitor, String application, Predicate<HttpServletRequest> mayBeSeen) {
        this.monitor = Objects.requireNonNull(monitor, "monitor");
        this.application = Objects.requireNonNull(application, "application");
        this.mayBeSeen = Objects.requireNonNull(mayBeSeen, "mayBeSeen");
    }

    /** Nothing to do, for containers of older servlet specifications. */
    @Override
    public void init(FilterConfig config) {}

    /**
     * Whether a client on this machine asks for itself: not a proxy, which says so by a field
     * ({@code Forwarded} or {@code X-Forwarded-For}).
     */
    public static boolean asksForItself(HttpServletRequest request) {
        String client = request.getRemoteAddr();
        return client != null
                && (client.startsWith("127.")
                        || client.equals("::1")
                        || client.equals("[::1]")
                        || client.startsWith("0:0:0:0:0:0:0:1"))
                && request.getHeader("Forwarded") == null
                && request.getHeader("X-Forwarded-For") == null;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (!(request instanceof HttpServletRequest httpRequest)
                || !(response instanceof HttpServletResponse httpResponse)) {
            chain.doFilter(request, response);
        } else if (isForMonitor(httpRequest)) {
            show(httpRequest, httpResponse);
        } else {
            count(httpRequest, httpResponse, chain);
        }
    }

    private void count(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        boolean isDone = false;
        monitor.begin(request.getMethod(), request.getRequestURI());
        try {
            chain.doFilter(request, response);
            isDone = true;
        } finally {
            if (isDone && request.isAsyncStarted()) {
                countWhenComplete(request, response);
            } else {
                int status = isDone ? response.getStatus() : Math.max(500, response.getStatus());
                monitor.end(status, request.getRequestURI());
            }
        }
    }

    private void countWhenComplete(HttpServletRequest request, HttpServletResponse response) {
        String path = request.getRequestURI();
        TimedRequest timed = monitor.detach();
        request.getAsyncContext().addListener(new Completion(timed, path), request, response);
    }

    /** The last of an asynchronous request: its end, or an error that ends it. */
    private final class Completion implements AsyncListener {
        private final TimedRequest timed;
        private final String path;
        private boolean hasFailed;

        Completion(TimedRequest timed, String path) {
            this.timed = timed;
            this.path = path;
        }

        @Override
        public void onComplete(AsyncEvent event) {
            int status = ((HttpServletResponse) event.getSuppliedResponse()).getStatus();
            monitor.end(timed, hasFailed ? Math.max(500, status) : status, path);
        }

        @Override
        public void onTimeout(AsyncEvent event) {
            hasFailed = true;
        }

        @Override
        public void onError(AsyncEvent event) {
            hasFailed = true;
        }

        @Override
        public void onStartAsync(AsyncEvent event) {
            // A new start forgets its listeners.
            event.getAsyncContext()
                    .addListener(this, event.getSuppliedRequest(), event.getSuppliedResponse());
        }
    }

    // Figures

    private static boolean isForMonitor(HttpServletRequest request) {
        String uri = request.getRequestURI();
        int start = request.getContextPath().length();
        if (!uri.startsWith(PATH, start)) {
            return false;
        }
        switch (uri.substring(start + PATH.length())) {
            case "", "/page", "/metrics", "/json":
                return true;
            default:
                return false;
        }
    }

    private void show(HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (!mayBeSeen.test(request)) {
            response.setStatus(HttpServletResponse.SC_FORBIDDEN);
            send(
                    response,
                    "text/plain; charset=utf-8",
                    "Only this machine may see the monitor, unless the application says"
                            + " otherwise.\n");
        } else if (!request.getMethod().equals("GET") && !request.getMethod().equals("HEAD")) {
            response.setHeader("Allow", "GET, HEAD");
            response.setStatus(HttpServletResponse.SC_METHOD_NOT_ALLOWED);
        } else {
            String uri = request.getRequestURI();
            showAs(response, formatOf(uri.substring(uri.lastIndexOf('/') + 1), request, response));
        }
    }

    private enum Format {
        PAGE,
        METRICS,
        JSON
    }

    private static Format formatOf(
            String last, HttpServletRequest request, HttpServletResponse response) {
        switch (last) {
            case "page":
                return Format.PAGE;
            case "metrics":
                return Format.METRICS;
            case "json":
                return Format.JSON;
            default:
                response.setHeader("Vary", "Accept");
                return acceptedFormat(Objects.requireNonNullElse(request.getHeader("Accept"), ""));
        }
    }

    private static Format acceptedFormat(String accepted) {
        if (accepted.contains("text/html")) {
            return Format.PAGE;
        } else if (accepted.contains("application/json")) {
            return Format.JSON;
        } else if (accepted.contains("text/plain") || accepted.contains("openmetrics")) {
            return Format.METRICS;
        }
        return Format.JSON;
    }

    private void showAs(HttpServletResponse response, Format format) throws IOException {
        response.setHeader("Cache-Control", "no-store");
        response.setHeader("X-Content-Type-Options", "nosniff");
        switch (format) {
            case PAGE:
                response.setHeader("Content-Security-Policy", MonitorTexts.POLICY);
                send(
                        response,
                        "text/html; charset=utf-8",
                        MonitorTexts.html(monitor, application));
                break;
            case METRICS:
                send(response, MonitorTexts.PROMETHEUS_TYPE, MonitorTexts.prometheus(monitor));
                break;
            default:
                send(response, "application/json", MonitorTexts.json(monitor, application));
                break;
        }
    }

    private static void send(HttpServletResponse response, String type, String text)
            throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        response.setContentType(type);
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }
}
