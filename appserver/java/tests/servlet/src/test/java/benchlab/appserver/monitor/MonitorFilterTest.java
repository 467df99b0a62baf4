// SPDX-License-Identifier: Apache-2.0
// Checks that nobody can see the metrics unless the application grants access.
package benchlab.appserver.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.monitor.servlet.MonitorFilter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MonitorFilterTest {

    private static final String TOKEN = "0123456789abcdef";

    /**
     * Creates a request for the metrics to port 9090. In {@code headers}, each name is followed by
     * its value.
     */
    private static HttpServletRequest request(String client, String... headers) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (int k = 0; k < headers.length; k += 2) {
            fields.put(headers[k], headers[k + 1]);
        }
        return (HttpServletRequest)
                Proxy.newProxyInstance(
                        MonitorFilterTest.class.getClassLoader(),
                        new Class<?>[] {HttpServletRequest.class},
                        (self, method, arguments) -> {
                            switch (method.getName()) {
                                case "getRemoteAddr":
                                    return client;
                                case "getLocalPort":
                                    return 9090;
                                case "getHeader":
                                    return fields.get(arguments[0]);
                                case "getHeaderNames":
                                    return Collections.enumeration(fields.keySet());
                                case "getRequestURI":
                                    return "/monitor";
                                case "getContextPath":
                                    return "";
                                case "getMethod":
                                    return "GET";
                                case "isAsyncStarted":
                                    return false;
                                default:
                                    throw new UnsupportedOperationException(method.getName());
                            }
                        });
    }

    /**
     * Returns the status that the filter sets, or 404 if it passes the request on to the
     * application.
     */
    private static int statusOf(MonitorFilter filter, HttpServletRequest request) throws Exception {
        var status = new AtomicInteger(200);
        var isPassedOn = new AtomicBoolean();
        var response =
                (HttpServletResponse)
                        Proxy.newProxyInstance(
                                MonitorFilterTest.class.getClassLoader(),
                                new Class<?>[] {HttpServletResponse.class},
                                (self, method, arguments) -> {
                                    switch (method.getName()) {
                                        case "setStatus":
                                            status.set((Integer) arguments[0]);
                                            return null;
                                        case "getStatus":
                                            return status.get();
                                        case "setHeader":
                                            return null;
                                        default:
                                            throw new UnsupportedOperationException(
                                                    method.getName());
                                    }
                                });
        FilterChain application = (asked, answered) -> isPassedOn.set(true);
        filter.doFilter(request, response, application);
        return isPassedOn.get() ? 404 : status.get();
    }

    @Test
    void showsNothingUnlessToldTo() throws Exception {
        var here = request("127.0.0.1", "Host", "127.0.0.1:8080");
        assertEquals(404, statusOf(new MonitorFilter(new Monitor()), here));
        assertEquals(404, statusOf(new MonitorFilter(), here));
    }

    @Test
    void asksForATokenThatAContainerSets() throws Exception {
        var filter = new MonitorFilter();
        filter.init(config(TOKEN));
        assertEquals(401, statusOf(filter, request("127.0.0.1", "Host", "localhost")));
        var shortOne = config("too short");
        assertThrows(IllegalArgumentException.class, () -> filter.init(shortOne));
        assertThrows(
                IllegalArgumentException.class,
                () -> new MonitorFilter(new Monitor(), "", "too short"));
    }

    private static FilterConfig config(String token) {
        return (FilterConfig)
                Proxy.newProxyInstance(
                        MonitorFilterTest.class.getClassLoader(),
                        new Class<?>[] {FilterConfig.class},
                        (self, method, arguments) -> token);
    }

    @Test
    void tellsTokensApart() {
        var hasToken = MonitorFilter.hasToken(TOKEN);
        assertTrue(hasToken.test(request("192.0.2.1", "Authorization", "Bearer " + TOKEN)));
        assertTrue(hasToken.test(request("192.0.2.1", "Authorization", "bearer " + TOKEN)));
        assertFalse(hasToken.test(request("192.0.2.1", "Authorization", "Bearer x" + TOKEN)));
        assertFalse(hasToken.test(request("192.0.2.1", "Authorization", "Basic " + TOKEN)));
        assertFalse(hasToken.test(request("127.0.0.1")));
        assertFalse(
                hasToken.test(
                        request(
                                "192.0.2.1",
                                "Authorization",
                                "Bearer " + TOKEN,
                                "Sec-Fetch-Site",
                                "cross-site")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Forwarded",
                "X-Forwarded-For",
                "x-forwarded-host",
                "X-Forwarded-Proto",
                "X-Real-IP",
                "Via"
            })
    void aProxyDoesNotAskForItself(String name) {
        assertFalse(
                MonitorFilter.asksForItself(request("127.0.0.1", "Host", "localhost", name, "x")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"localhost", "LocalHost:9090", "127.0.0.1", "127.9.8.7:80", "[::1]:9090"})
    void namesOfThisMachineAreTaken(String host) {
        assertTrue(MonitorFilter.asksForItself(request("127.0.0.1", "Host", host)));
        assertTrue(MonitorFilter.asksForItself(request("0:0:0:0:0:0:0:1", "Host", host)));
        assertTrue(MonitorFilter.onPort(9090).test(request("127.0.0.1", "Host", host)));
        assertFalse(MonitorFilter.onPort(8080).test(request("127.0.0.1", "Host", host)));
        assertFalse(MonitorFilter.asksForItself(request("192.0.2.1", "Host", host)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":80",
                "[]",
                "rebound.example",
                "localhost.rebound.example:80",
                "127.0.0.1.rebound.example",
                "192.0.2.1"
            })
    void otherNamesAreNot(String host) {
        assertFalse(MonitorFilter.asksForItself(request("127.0.0.1", "Host", host)));
    }

    @Test
    void aPageOfAnotherSiteDoesNotAsk() {
        for (String site : new String[] {"cross-site", "same-site"}) {
            assertFalse(
                    MonitorFilter.asksForItself(
                            request("127.0.0.1", "Host", "localhost", "Sec-Fetch-Site", site)));
        }
        for (String site : new String[] {"none", "same-origin"}) {
            assertTrue(
                    MonitorFilter.asksForItself(
                            request("127.0.0.1", "Host", "localhost", "Sec-Fetch-Site", site)));
        }
        assertFalse(MonitorFilter.asksForItself(request("127.0.0.1")));
    }
}
