// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Classifies the failures of HTTP requests (RFC 9110). For {@code java.net.http}:
 *
 * <pre>{@code
 * RetryPolicy.of(HttpFailures::classify)
 *         .idempotent(HttpFailures.isIdempotent(request.method()))
 *         .results(
 *                 result ->
 *                         result instanceof HttpResponse<?> response
 *                                 ? HttpFailures.ofResponse(
 *                                         response.statusCode(),
 *                                         response.headers().firstValue("Retry-After").orElse(null))
 *                                 : null)
 * }</pre>
 */
public final class HttpFailures {

    /** The idempotent methods (RFC 9110, section 9.2.2). */
    private static final Set<String> IDEMPOTENT =
            Set.of("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE");

    private static final String CONNECT_TIMEOUT = "java.net.http.HttpConnectTimeoutException";
    private static final Duration MAX_DELAY = Duration.ofDays(36_500);
    private static final Pattern SECONDS = Pattern.compile("\\d{1,9}");

    private HttpFailures() {}

    /**
     * Classifies the exception of a client, and its causes, because many clients wrap exceptions. If
     * no connection could be established, nothing was sent. After any other {@link IOException}, the
     * server may have processed the request.
     *
     * <p>The client must not follow redirects of requests that are not idempotent: if the target of
     * a redirect is down, the first server has already processed the request.
     *
     * @param failure the exception
     * @return the classification
     */
    public static Verdict classify(Exception failure) {
        Set<Throwable> visited = Collections.newSetFromMap(new IdentityHashMap<>());
        boolean isLost = false;
        Throwable cause = failure;
        while (cause != null && visited.add(cause)) {
            if (isUnableToConnect(cause)) {
                return Verdict.TRANSIENT;
            }
            isLost |= cause instanceof IOException;
            cause = cause.getCause();
        }
        return isLost ? Verdict.OUTCOME_UNKNOWN : Verdict.PERMANENT;
    }

    private static boolean isUnableToConnect(Throwable cause) {
        return cause instanceof ConnectException
                || cause instanceof NoRouteToHostException
                || cause instanceof UnknownHostException
                || cause instanceof UnresolvedAddressException
                || cause.getClass().getName().equals(CONNECT_TIMEOUT);
    }

    /**
     * Classifies a response. 429 (Too Many Requests) and 503 (Service Unavailable) are transient:
     * the server has rejected the request. After 408, 500, 502 and 504 it is unknown whether the
     * request took effect. All other responses are results.
     *
     * @param status the status code
     * @param retryAfter the field {@code Retry-After}, in seconds or as a date; null if there is none
     * @return the classification; null if the response is not a failure, or if a retry would get
     *     the same response
     */
    public static @Nullable Verdict ofResponse(int status, @Nullable String retryAfter) {
        return switch (status) {
            case 429, 503 -> Verdict.TRANSIENT.after(delay(retryAfter, Instant.now()));
            case 408, 500, 502, 504 -> Verdict.OUTCOME_UNKNOWN;
            default -> null;
        };
    }

    /**
     * Returns true for a method whose requests are idempotent.
     *
     * @param method the method, such as {@code GET}
     * @return true for an idempotent method
     */
    public static boolean isIdempotent(String method) {
        return IDEMPOTENT.contains(method);
    }

    /**
     * Returns the delay in a {@code Retry-After} field, at most {@link #MAX_DELAY}; zero if the
     * field is missing or malformed.
     */
    static Duration delay(@Nullable String retryAfter, Instant now) {
        if (retryAfter == null) {
            return Duration.ZERO;
        } else if (SECONDS.matcher(retryAfter.strip()).matches()) {
            return Duration.ofSeconds(Long.parseLong(retryAfter.strip()));
        }
        try {
            var moment = ZonedDateTime.parse(retryAfter.strip(), DateTimeFormatter.RFC_1123_DATE_TIME);
            Duration left = Duration.between(now, moment.toInstant());
            if (left.isNegative()) {
                return Duration.ZERO;
            }
            return left.compareTo(MAX_DELAY) > 0 ? MAX_DELAY : left;
        } catch (DateTimeException e) {
            return Duration.ZERO;
        }
    }
}
