// SPDX-License-Identifier: Apache-2.0
// Grizzly with Jersey's container.
package benchlab.rest;

import benchlab.kit.Serving;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.glassfish.grizzly.Grizzly;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.jersey.grizzly2.httpserver.GrizzlyHttpServerFactory;
import org.glassfish.jersey.internal.Version;
import org.glassfish.jersey.server.ResourceConfig;

final class GrizzlySubject {
    /**
     * The logger of shutdowns. It is referenced, because an unreferenced logger loses its level.
     */
    private static final Logger SHUTDOWN =
            Logger.getLogger("org.glassfish.grizzly.nio.GracefulShutdownRunner");

    private GrizzlySubject() {}

    public static void main(String[] arguments) throws Exception {
        SHUTDOWN.setLevel(Level.SEVERE); // It warns of each shutdown.
        RestSubject.serve(
                "java-grizzly",
                "Grizzly " + Grizzly.getDotedVersion() + ", Jersey " + Version.getVersion(),
                GrizzlySubject::open);
    }

    private static Serving open(int workers, Path files) throws Exception {
        HttpServer server =
                GrizzlyHttpServerFactory.createHttpServer(
                        URI.create("http://" + RestSubject.HOST + ":0/"),
                        ResourceConfig.forApplicationClass(RestApplication.class),
                        false);
        server.getServerConfiguration().addHttpHandler(new FileHandler(files), "/files/");

        NetworkListener listener = server.getListeners().iterator().next();
        int loops = listener.getTransport().getSelectorRunnersCount(); // One more than the number of cores.
        listener.registerAddOn(new Completion());
        listener.getTransport().setServerConnectionBackLog(RestSubject.BACKLOG);
        listener.getTransport()
                .getWorkerThreadPoolConfig()
                .setCorePoolSize(workers)
                .setMaxPoolSize(workers);
        listener.getFileCache().setEnabled(false); // Cached responses ignore Connection: close.
        listener.getKeepAlive().setMaxRequestsCount(-1); // The default is 256.
        listener.getKeepAlive().setIdleTimeoutInSeconds((int) RestSubject.IDLE.toSeconds());
        server.start();
        return new RunningServer(listener.getPort(), workers, loops, () -> stop(server));
    }

    /**
     * Ends the shutdown with a timeout. Grizzly has a timeout, too, but it does not end the waiting
     * threads.
     */
    private static void stop(HttpServer server) throws Exception {
        Future<HttpServer> stopped = server.shutdown();
        try {
            stopped.get(RestSubject.GRACE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            server.shutdownNow();
        }
    }
}
