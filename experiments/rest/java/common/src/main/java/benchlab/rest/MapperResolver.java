// SPDX-License-Identifier: Apache-2.0
// Provides the Jackson mapper to JAX-RS.
package benchlab.rest;

import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.ws.rs.ext.ContextResolver;

public final class MapperResolver implements ContextResolver<ObjectMapper> {
    @Override
    public ObjectMapper getContext(Class<?> type) {
        return Json.MAPPER;
    }
}
