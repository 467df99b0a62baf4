// SPDX-License-Identifier: Apache-2.0
// Jetty with Jersey as a servlet.
package benchlab.rest;

import benchlab.kit.Serving;
import java.nio.file.Path;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ContextHandler;
import org.eclipse.jetty.server.handler.ContextHandlerCollection;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.server.handler.ResourceHandler;
import org.eclipse.jetty.util.resource.ResourceFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.glassfish.jersey.internal.Version;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.servlet.ServletContainer;

final class JettySubject {
    /**
     * The number of threads that accept connections. Each acceptor and each selector occupies a
     * thread of the pool.
     */
    private static final int ACCEPTORS = 1;

    private static final int SELECTORS = 1;

    /**
     * The idle timeout of a connection in ms after the server is closed. A connection that its client does not
     * close is closed after twice this time, which must be within {@link RestSubject#GRACE}.
     */
    private static final long GRACE_IDLE = RestSubject.GRACE.toMillis() * 2 / 5;

    private JettySubject() {}

    public static void main(String[] arguments) throws Exception {
        RestSubject.serve(
                "java-jetty",
                "Jetty " + Server.getVersion() + ", Jersey " + Version.getVersion(),
                JettySubject::open);
    }

    private static Serving open(int workers, Path files) throws Exception {
        int threads = workers + ACCEPTORS + SELECTORS;
        var server = new Server(new QueuedThreadPool(threads, threads));
        var connector = new ServerConnector(server, ACCEPTORS, SELECTORS);
        connector.setHost(RestSubject.HOST);
        connector.setAcceptQueueSize(RestSubject.BACKLOG);
        connector.setIdleTimeout(RestSubject.IDLE.toMillis());
        connector.setShutdownIdleTimeout(GRACE_IDLE);
        server.addConnector(connector);
        server.setHandler(
                new GracefulHandler(
                        new ContextHandlerCollection(api(), files(ResourceFactory.of(server), files))));
        server.setStopTimeout(RestSubject.GRACE.toMillis());
        try {
            server.start();
        } catch (Exception e) { // For example with a single worker: Jetty reserves one thread.
            server.stop();
            throw e;
        }
        return new RunningServer(
                connector.getLocalPort(), workers, ACCEPTORS + SELECTORS, server::stop);
    }

    private static ContextHandler api() {
        var jersey = new ServletContainer(ResourceConfig.forApplicationClass(RestApplication.class));
        var context = new ServletContextHandler("/");
        context.addServlet(new ServletHolder(jersey), "/api/*");
        return context;
    }

    private static ContextHandler files(ResourceFactory resources, Path folder) {
        var handler = new ResourceHandler();
        handler.setBaseResource(resources.newResource(folder));
        handler.setDirAllowed(false);
        return new ContextHandler(new ReadOnly(handler), "/files");
    }
}
