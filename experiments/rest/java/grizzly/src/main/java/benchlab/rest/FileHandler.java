// SPDX-License-Identifier: Apache-2.0
// Grizzly's static files, with HEAD: to its own handler GET is the only method.
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

    /** @param path relative to the folder, without {@code ..}: that was refused */
    @Override
    protected boolean handle(String path, Request request, Response response) throws IOException {
        var file = new File(folder.toFile(), path);
        if (!file.isFile()) {
            return false;
        }
        Method method = request.getMethod();
        if (method.equals(Method.GET)) {
            response.getResponse().getHeaders().removeHeader(Header.Date); // It is sent with a file.
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
