// SPDX-License-Identifier: Apache-2.0
// Completes Grizzly's responses: sets the Date header, and responds with 400 to a path that cannot be decoded,
// instead of 500.
package benchlab.rest;

import static org.glassfish.grizzly.http.HttpServerFilter.RESPONSE_COMPLETE_EVENT;

import java.io.CharConversionException;
import java.io.IOException;
import org.glassfish.grizzly.filterchain.BaseFilter;
import org.glassfish.grizzly.filterchain.FilterChainBuilder;
import org.glassfish.grizzly.filterchain.FilterChainContext;
import org.glassfish.grizzly.filterchain.NextAction;
import org.glassfish.grizzly.http.HttpContent;
import org.glassfish.grizzly.http.HttpRequestPacket;
import org.glassfish.grizzly.http.HttpResponsePacket;
import org.glassfish.grizzly.http.server.AddOn;
import org.glassfish.grizzly.http.server.HttpServerFilter;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.grizzly.http.util.FastHttpDateFormat;
import org.glassfish.grizzly.http.util.Header;
import org.glassfish.grizzly.http.util.HttpStatus;

/**
 * A filter that runs before Grizzly's handlers. It sets the Date header and rejects paths that
 * cannot be decoded. Grizzly 4.0 sets Date too late: by then it has declared all further headers
 * to be trailers, and Date is not allowed as a trailer.
 */
final class Completion extends BaseFilter implements AddOn {
    @Override
    public void setup(NetworkListener listener, FilterChainBuilder chain) {
        chain.add(chain.indexOfType(HttpServerFilter.class), this);
    }

    /**
     * Sets the Date header, and rejects a path that cannot be decoded. Also called for each piece
     * of a body.
     */
    @Override
    public NextAction handleRead(FilterChainContext context) throws IOException {
        HttpContent content = context.getMessage();
        var request = (HttpRequestPacket) content.getHttpHeader();
        HttpResponsePacket response = request.getResponse();
        if (!response.containsHeader(Header.Date)) {
            response.setHeader(Header.Date, FastHttpDateFormat.getCurrentDate());
        }
        try {
            request.getRequestURIRef().getDecodedRequestURIBC(false);
            return context.getInvokeAction();
        } catch (CharConversionException | IllegalArgumentException e) {
            HttpStatus.BAD_REQUEST_400.setValues(response);
            context.write(HttpContent.builder(response).last(true).build());
            context.notifyDownstream(RESPONSE_COMPLETE_EVENT);
            return context.getStopAction();
        }
    }
}
