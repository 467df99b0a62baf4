// SPDX-License-Identifier: Apache-2.0
// The API as a JAX-RS resource, for Grizzly, Jetty, Tomcat and Undertow.
package benchlab.rest;

import benchlab.rest.Greetings.Greeting;
import benchlab.rest.Greetings.NumberedGreeting;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;

@Path("/")
@Produces(MediaType.APPLICATION_JSON)
public final class Api {

    @GET
    public String greeting() {
        return Greetings.WORLD;
    }

    @GET
    @Path("built")
    public NumberedGreeting built(@QueryParam("number") String number) {
        return Greetings.built(number).orElseThrow(BadRequestException::new);
    }

    @GET
    @Path("hello/{name}")
    public Greeting hello(@PathParam("name") String name) {
        return Greetings.hello(name).orElseThrow(BadRequestException::new);
    }

    /**
     * Echoes an order.
     *
     * @param order the order; null if the body is empty or the JSON is null
     * @return the response
     */
    @POST
    @Path("echo")
    @Consumes(MediaType.APPLICATION_JSON)
    public Order echo(Order order) {
        if (order == null) {
            throw new BadRequestException();
        }
        return order;
    }
}
