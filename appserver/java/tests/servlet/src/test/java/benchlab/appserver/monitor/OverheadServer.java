// SPDX-License-Identifier: Apache-2.0
// A server with or without a monitor, to compare both.
package benchlab.appserver.monitor;

import benchlab.appserver.monitor.servlet.MonitorFilter;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;

/**
 * A server for measurements of the filter's overhead: a program, not a test. The argument {@code
 * with} or {@code without} selects whether the server uses the filter. The server exits at the end
 * of its input.
 */
final class OverheadServer {

    private OverheadServer() {}

    public static void main(String[] arguments) throws Exception {
        var jetty = new JettyTest();
        Filter filter =
                arguments[0].equals("with")
                        ? new MonitorFilter(new Monitor())
                        : (request, response, chain) -> chain.doFilter(request, response);
        System.out.println("http://127.0.0.1:" + jetty.start(filter, Map.of("/*", new Hello())));
        System.in.read();
        jetty.stop();
    }

    private static final class Hello extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            response.getWriter().print("Hello!");
        }
    }
}
