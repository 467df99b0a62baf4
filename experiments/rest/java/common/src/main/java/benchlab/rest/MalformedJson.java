// SPDX-License-Identifier: Apache-2.0
// Responds with 400 to invalid JSON or documents; RESTEasy would log these, too.
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
