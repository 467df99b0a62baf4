// SPDX-License-Identifier: Apache-2.0
// Tomcat's servlet for static files, with an answer to PATCH: it is the one method of which it knows nothing.
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
