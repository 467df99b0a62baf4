// SPDX-License-Identifier: Apache-2.0
// Responds with 405 to methods other than GET and HEAD; Jetty's handler for static files responds
// with 404.
package benchlab.rest;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

final class ReadOnly extends Handler.Wrapper {
    ReadOnly(Handler handler) {
        super(handler);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        String method = request.getMethod();
        if (HttpMethod.GET.is(method) || HttpMethod.HEAD.is(method)) {
            return super.handle(request, response, callback);
        }
        response.getHeaders().put(HttpHeader.ALLOW, "GET, HEAD");
        Response.writeError(request, response, callback, HttpStatus.METHOD_NOT_ALLOWED_405);
        return true;
    }
}
