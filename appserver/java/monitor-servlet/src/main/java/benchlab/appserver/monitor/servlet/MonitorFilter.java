// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor.servlet;

import benchlab.appserver.monitor.DetachedRequest;
import benchlab.appserver.monitor.Monitor;
import benchlab.appserver.monitor.MonitorTexts;
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
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Collections;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Records servlet requests and serves the metrics. Install this filter before all others, with
 * support for asynchronous requests, for the dispatcher {@code REQUEST} only. Authorized clients
 * get the metrics from {@code /monitor} in the application: a page for a browser, the text format
 * for Prometheus, and JSON for all other clients, such as {@code benchlab logs}. {@code
 * /monitor/page}, {@code /monitor/metrics} and {@code /monitor/json} select a format explicitly.
 * Requests for the metrics are not counted.
 *
 * <p>The metrics contain SQL, paths with keys, and errors. Nobody can see them unless the
 * application grants access, with a token or with a predicate of its own, such as {@link #onPort}.
 * If the filter has a token, all other clients get status 401 for these paths; otherwise their
 * requests reach the application.
 *
 * <p>An asynchronous request lasts until it is complete; CPU time and queries of other threads do
 * not count for its page. A request whose servlet throws counts as status 500.
 */
public final class MonitorFilter implements Filter {

    /** The minimum length of a token in characters. */
    public static final int MIN_TOKEN_LENGTH = 16;

    private static final String PATH = "/monitor";

    private final Monitor monitor;
    private final String application;
    private Predicate<HttpServletRequest> mayBeSeen;
    private boolean asksForToken;

    /**
     * Creates a filter for {@link Monitor#shared}, for containers that create the filter by its
     * class name. The metrics are served if the filter has the initialization parameter {@code
     * token}.
     */
    public MonitorFilter() {
        this(Monitor.shared());
    }

    /**
     * Creates a filter that serves the metrics only if it has the initialization parameter {@code
     * token}.
     *
     * @param monitor records the requests
     */
    public MonitorFilter(Monitor monitor) {
        this(monitor, "", request -> false);
    }

    /**
     * Creates a filter that serves the metrics to clients that send a secret token. Other clients
     * get status 401.
     *
     * @param monitor records the requests
     * @param application a name of the application for display; may be empty
     * @param token the secret, at least {@link #MIN_TOKEN_LENGTH} characters long. Clients send it
     *     in the header {@code Authorization}, as {@code Bearer}, or as the password of the user
     *     {@code monitor} ({@code Basic})
     */
    public MonitorFilter(Monitor monitor, String application, String token) {
        this(monitor, application, hasToken(token));
        asksForToken = true;
    }

    /**
     * Creates a filter that serves the metrics to the clients that a predicate accepts.
     *
     * @param monitor records the requests
     * @param application a name of the application for display; may be empty
     * @param mayBeSeen returns true for requests whose client may see the metrics
     */
    public MonitorFilter(
            Monitor monitor, String application, Predicate<HttpServletRequest> mayBeSeen) {
        this.monitor = Objects.requireNonNull(monitor, "monitor");
        this.application = Objects.requireNonNull(application, "application");
        this.mayBeSeen = Objects.requireNonNull(mayBeSeen, "mayBeSeen");
    }

    /**
     * Reads the token from the initialization parameter, if there is one.
     *
     * @throws IllegalArgumentException if the token is too short
     */
    @Override
    public void init(FilterConfig config) {
        String token = config.getInitParameter("token");
        if (token != null) {
            mayBeSeen = hasToken(token);
            asksForToken = true;
        }
    }

    // Access to the metrics

    private static final Set<String> OF_PROXIES =
            Set.of("forwarded", "via", "x-real-ip", "x-client-ip");

    /**
     * Returns a predicate that accepts requests with the secret token, unless a page of another
     * site sends them ({@code Sec-Fetch-Site}).
     *
     * @param token the secret
     * @return the predicate
     * @throws IllegalArgumentException if the token is too short
     */
    public static Predicate<HttpServletRequest> hasToken(String token) {
        if (token.length() < MIN_TOKEN_LENGTH) {
            throw new IllegalArgumentException(
                    "the token must have at least " + MIN_TOKEN_LENGTH + " characters");
        }
        byte[] bearer = token.getBytes(StandardCharsets.UTF_8);
        byte[] basic =
                Base64.getEncoder().encode(("monitor:" + token).getBytes(StandardCharsets.UTF_8));
        return request ->
                asksFromHere(request)
                        && (hasCredentials(request, "Bearer ", bearer)
                                || hasCredentials(request, "Basic ", basic));
    }

    private static boolean hasCredentials(
            HttpServletRequest request, String scheme, byte[] expected) {
        String value = request.getHeader("Authorization");
        return value != null
                && value.regionMatches(true, 0, scheme, 0, scheme.length())
                && MessageDigest.isEqual(
                        value.substring(scheme.length()).getBytes(StandardCharsets.UTF_8),
                        expected);
    }

    /**
     * Returns a predicate that accepts requests that arrive on a dedicated port and for which
     * {@link #asksForItself} returns true. Use a separate connector for the metrics, which listens
     * on the loopback address and to which no proxy forwards requests.
     *
     * @param port the port
     * @return the predicate
     */
    public static Predicate<HttpServletRequest> onPort(int port) {
        return request -> request.getLocalPort() == port && asksForItself(request);
    }

    /**
     * Returns true if the client is a process on this machine that sends a request of its own. The
     * request must address this machine by a local name ({@code Host}: localhost, 127.0.0.1 or
     * [::1], with any port). It must not have a header of a proxy ({@code Forwarded}, {@code
     * X-Forwarded-For}, {@code Via}, {@code X-Real-IP} and the like), and must not come from a
     * browser that shows a page of another site.
     *
     * <p>A proxy on this machine does not necessarily identify itself; nginx does so only if it is
     * configured to. This check is not sufficient if there may be such a proxy.
     *
     * @param request the request
     * @return true if the metrics may be served
     */
    public static boolean asksForItself(HttpServletRequest request) {
        return isLoopback(request.getRemoteAddr())
                && isLoopback(hostOf(request.getHeader("Host")))
                && asksFromHere(request)
                && Collections.list(request.getHeaderNames()).stream()
                        .map(name -> name.toLowerCase(Locale.ROOT))
                        .noneMatch(
                                name ->
                                        OF_PROXIES.contains(name)
                                                || name.startsWith("x-forwarded"));
    }

    /**
     * Returns false if a browser reports that a page of another origin sent the request (W3C, Fetch
     * Metadata Request Headers).
     */
    private static boolean asksFromHere(HttpServletRequest request) {
        String site = request.getHeader("Sec-Fetch-Site");
        return site == null || site.equals("none") || site.equals("same-origin");
    }

    /** Returns the host without the port. */
    private static @Nullable String hostOf(@Nullable String authority) {
        return authority == null ? null : authority.replaceFirst(":[0-9]*$", "");
    }

    private static final Pattern LOOPBACK =
            Pattern.compile(
                    "localhost|127(\\.[0-9]{1,3}){3}|\\[?(::1|0:0:0:0:0:0:0:1)(%[^\\]]*)?\\]?",
                    Pattern.CASE_INSENSITIVE);

    private static boolean isLoopback(@Nullable String host) {
        return host != null && LOOPBACK.matcher(host).matches();
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (!(request instanceof HttpServletRequest httpRequest)
                || !(response instanceof HttpServletResponse httpResponse)) {
            chain.doFilter(request, response);
        } else if (isForMonitor(httpRequest) && mayBeSeen.test(httpRequest)) {
            show(httpRequest, httpResponse);
        } else if (isForMonitor(httpRequest) && asksForToken) {
            httpResponse.setHeader("WWW-Authenticate", "Basic realm=\"monitor\"");
            httpResponse.setStatus(HttpServletResponse.SC_UNAUTHORIZED);
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
        DetachedRequest detached = monitor.detach();
        request.getAsyncContext().addListener(new Completion(detached, path), request, response);
    }

    /** Records an asynchronous request when it completes or fails. */
    private static final class Completion implements AsyncListener {
        private final DetachedRequest detached;
        private final String path;
        private boolean hasFailed;

        Completion(DetachedRequest detached, String path) {
            this.detached = detached;
            this.path = path;
        }

        @Override
        public void onComplete(AsyncEvent event) {
            int status = ((HttpServletResponse) event.getSuppliedResponse()).getStatus();
            detached.end(hasFailed ? Math.max(500, status) : status, path);
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
            // A new start drops the listeners.
            event.getAsyncContext()
                    .addListener(this, event.getSuppliedRequest(), event.getSuppliedResponse());
        }
    }

    // Statistics

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
        if (!request.getMethod().equals("GET") && !request.getMethod().equals("HEAD")) {
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
