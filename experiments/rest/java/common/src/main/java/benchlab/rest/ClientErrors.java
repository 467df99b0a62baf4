// SPDX-License-Identifier: Apache-2.0
// Responds to invalid requests without logging: RESTEasy would log each one with its stack trace.
package benchlab.rest;

import jakarta.ws.rs.ClientErrorException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;

public final class ClientErrors implements ExceptionMapper<ClientErrorException> {
    @Override
    public Response toResponse(ClientErrorException exception) {
        return exception.getResponse();
    }
}
