// SPDX-License-Identifier: Apache-2.0
// What is not JSON, or not the document that was asked for, is a bad request: RESTEasy would log that, too.
package benchlab.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;

public final class MalformedJson implements ExceptionMapper<JsonProcessingException> {
    @Override
    public Response toResponse(JsonProcessingException exception) {
        return Response.status(Response.Status.BAD_REQUEST).build();
    }
}
