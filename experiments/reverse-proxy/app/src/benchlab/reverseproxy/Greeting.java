// SPDX-License-Identifier: Apache-2.0
package benchlab.reverseproxy;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The dynamic page: the same document that the servers of experiments/rest send. */
public final class Greeting extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private static final byte[] DOCUMENT =
            "{\"greeting\":\"Hello World!\"}".getBytes(StandardCharsets.UTF_8);

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("application/json");
        response.setContentLength(DOCUMENT.length);
        response.getOutputStream().write(DOCUMENT);
    }

    @Override
    protected void doDelete(HttpServletRequest request, HttpServletResponse response) {
        response.setStatus(HttpServletResponse.SC_METHOD_NOT_ALLOWED);
        response.setHeader("Allow", "GET, HEAD");
    }
}
