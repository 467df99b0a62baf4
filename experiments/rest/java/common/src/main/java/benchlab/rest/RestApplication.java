// SPDX-License-Identifier: Apache-2.0
// The JAX-RS application: its resource and its providers.
package benchlab.rest;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Map;
import java.util.Set;

@ApplicationPath("api")
public final class RestApplication extends Application {

    @Override
    public Set<Class<?>> getClasses() {
        return Set.of(
                Api.class,
                MapperResolver.class,
                BodyLimit.class,
                ClientErrors.class,
                MalformedJson.class);
    }

    /** Disables Jersey's description of the API in WADL, an obsolete format. */
    @Override
    public Map<String, Object> getProperties() {
        return Map.of("jersey.config.server.wadl.disableWadl", true);
    }
}
