// SPDX-License-Identifier: Apache-2.0
// Undertow with RESTEasy as a servlet.
package benchlab.rest;

import benchlab.kit.Serving;
import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.Version;
import io.undertow.server.HttpHandler;
import io.undertow.server.handlers.GracefulShutdownHandler;
import io.undertow.server.handlers.resource.PathResourceManager;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentInfo;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.util.Headers;
import io.undertow.util.Methods;
import io.undertow.util.StatusCodes;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jboss.resteasy.plugins.server.servlet.HttpServlet30Dispatcher;
import org.jboss.resteasy.spi.ResteasyDeployment;
import org.xnio.OptionMap;
import org.xnio.Options;
import org.xnio.Xnio;
import org.xnio.XnioWorker;

final class UndertowSubject {
    /** The number of threads that accept connections, in addition to the I/O threads. */
    private static final int ACCEPTORS = 1;

    private UndertowSubject() {}

    public static void main(String[] arguments) throws Exception {
        String resteasy = ResteasyDeployment.class.getPackage().getImplementationVersion();
        RestSubject.serve(
                "java-undertow",
                "Undertow " + Version.getVersionString() + ", RESTEasy " + resteasy,
                UndertowSubject::open);
    }

    private static Serving open(int workers, Path files) throws Exception {
        DeploymentManager api = Servlets.defaultContainer().addDeployment(api());
        api.deploy();
        HttpHandler routes = Handlers.path(api.start()).addPrefixPath("/files", files(files));
        GracefulShutdownHandler handler = Handlers.gracefulShutdown(routes);
        int loops = Math.max(Runtime.getRuntime().availableProcessors(), 2); // The default.
        XnioWorker worker = worker(workers, loops);
        Undertow server =
                Undertow.builder()
                        .addHttpListener(0, RestSubject.HOST)
                        .setHandler(handler)
                        .setWorker(worker)
                        .setSocketOption(Options.BACKLOG, RestSubject.BACKLOG) // The default is 1000.
                        .setServerOption(
                                UndertowOptions.NO_REQUEST_TIMEOUT, (int) RestSubject.IDLE.toMillis())
                        .build();
        server.start();
        var address = (InetSocketAddress) server.getListenerInfo().get(0).getAddress();
        return new RunningServer(address.getPort(), workers, loops + ACCEPTORS, () -> {
            server.stop();
            handler.shutdown();
            handler.awaitShutdown(RestSubject.GRACE.toMillis());
            worker.shutdownNow();
            worker.awaitTermination();
            api.stop();
            api.undeploy();
        });
    }

    /**
     * Creates the server's threads in the same way as the server would. Threads that the server
     * creates itself end as soon as the server is stopped, even during requests. With the threads
     * of this method, the server only stops accepting.
     */
    private static XnioWorker worker(int workers, int loops) throws IOException {
        return Xnio.getInstance()
                .createWorker(
                        OptionMap.builder()
                                .set(Options.WORKER_IO_THREADS, loops)
                                .set(Options.WORKER_TASK_CORE_THREADS, workers)
                                .set(Options.WORKER_TASK_MAX_THREADS, workers)
                                .set(Options.CONNECTION_HIGH_WATER, 1_000_000)
                                .set(Options.CONNECTION_LOW_WATER, 1_000_000)
                                .set(Options.TCP_NODELAY, true)
                                .set(Options.CORK, true)
                                .getMap());
    }

    private static DeploymentInfo api() {
        return Servlets.deployment()
                .setClassLoader(UndertowSubject.class.getClassLoader())
                .setDeploymentName("api")
                .setContextPath("/")
                .addServlet(
                        Servlets.servlet("resteasy", HttpServlet30Dispatcher.class)
                                .setAsyncSupported(true)
                                .setLoadOnStartup(1)
                                .addInitParam("jakarta.ws.rs.Application", RestApplication.class.getName())
                                .addInitParam("resteasy.servlet.mapping.prefix", "/api")
                                .addMapping("/api/*"));
    }

    /** Serves files on the worker threads. For other methods, Undertow would omit the header Allow. */
    private static HttpHandler files(Path folder) {
        HttpHandler files = Handlers.resource(new PathResourceManager(folder));
        return exchange -> {
            if (exchange.getRequestMethod().equals(Methods.GET)
                    || exchange.getRequestMethod().equals(Methods.HEAD)) {
                files.handleRequest(exchange);
            } else {
                exchange.getResponseHeaders().put(Headers.ALLOW, "GET, HEAD");
                exchange.setStatusCode(StatusCodes.METHOD_NOT_ALLOWED);
            }
        };
    }
}
