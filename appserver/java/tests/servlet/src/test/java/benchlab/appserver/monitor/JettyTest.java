// SPDX-License-Identifier: Apache-2.0
// The filter in Jetty.
package benchlab.appserver.monitor;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.Servlet;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Map;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;

class JettyTest extends ContainerTest {

    private final Server server = new Server(new InetSocketAddress("127.0.0.1", 0));

    @Override
    int start(Filter filter, Map<String, Servlet> servlets) throws Exception {
        var context = new ServletContextHandler("/");
        var holder = new FilterHolder(filter);
        holder.setAsyncSupported(true);
        context.addFilter(holder, "/*", EnumSet.of(DispatcherType.REQUEST));
        servlets.forEach(
                (path, servlet) -> {
                    var named = new ServletHolder(servlet);
                    named.setAsyncSupported(true);
                    context.addServlet(named, path);
                });
        server.setHandler(context);
        server.start();
        return server.getURI().getPort();
    }

    @Override
    void stop() throws Exception {
        server.stop();
    }
}
