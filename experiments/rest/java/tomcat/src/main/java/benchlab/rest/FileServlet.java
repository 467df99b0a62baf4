// SPDX-License-Identifier: Apache-2.0
// Tomcat's servlet for static files, extended to respond to PATCH, the one method that it does not know.
package benchlab.rest;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.catalina.servlets.DefaultServlet;

final class FileServlet extends DefaultServlet {
    private static final long serialVersionUID = 1;

    @Override
    protected void doPatch(HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        sendNotAllowed(request, response);
    }
}
