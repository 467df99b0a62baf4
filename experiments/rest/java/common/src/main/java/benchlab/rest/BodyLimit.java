// SPDX-License-Identifier: Apache-2.0
// Rejects bodies that are too large: JAX-RS has no limit, and neither do most of the servers.
package benchlab.rest;

import jakarta.ws.rs.ClientErrorException;
import jakarta.ws.rs.core.Response.Status;
import jakarta.ws.rs.ext.ReaderInterceptor;
import jakarta.ws.rs.ext.ReaderInterceptorContext;
import java.io.ByteArrayInputStream;
import java.io.IOException;

public final class BodyLimit implements ReaderInterceptor {
    @Override
    public Object aroundReadFrom(ReaderInterceptorContext context) throws IOException {
        byte[] body = context.getInputStream().readNBytes(RestSubject.MAX_BODY + 1);
        if (body.length > RestSubject.MAX_BODY) {
            throw new ClientErrorException(Status.REQUEST_ENTITY_TOO_LARGE);
        }
        context.setInputStream(new ByteArrayInputStream(body));
        return context.proceed();
    }
}
