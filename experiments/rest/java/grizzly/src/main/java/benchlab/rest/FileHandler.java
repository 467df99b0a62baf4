// SPDX-License-Identifier: Apache-2.0
// Grizzly's static files with support for HEAD; Grizzly's own handler only supports GET.
package benchlab.rest;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import org.glassfish.grizzly.http.Method;
import org.glassfish.grizzly.http.server.Request;
import org.glassfish.grizzly.http.server.Response;
import org.glassfish.grizzly.http.server.StaticHttpHandlerBase;
import org.glassfish.grizzly.http.util.Header;
import org.glassfish.grizzly.http.util.HttpStatus;

final class FileHandler extends StaticHttpHandlerBase {
    private final Path folder;

    FileHandler(Path folder) {
        this.folder = folder;
    }

    /**
     * Sends a file.
     *
     * @param path the path relative to the directory; paths with {@code ..} have already been
     *     rejected
     * @return true if the file exists
     */
    @Override
    protected boolean handle(String path, Request request, Response response) throws IOException {
        var file = new File(folder.toFile(), path);
        if (!file.isFile()) {
            return false;
        }
        Method method = request.getMethod();
        if (method.equals(Method.GET)) {
            response.getResponse().getHeaders().removeHeader(Header.Date); // sendFile adds it.
            sendFile(response, file);
        } else if (method.equals(Method.HEAD)) {
            pickupContentType(response, path);
            response.setContentLengthLong(file.length());
        } else {
            response.setStatus(HttpStatus.METHOD_NOT_ALLOWED_405);
            response.setHeader(Header.Allow, "GET, HEAD");
        }
        return true;
    }
}
