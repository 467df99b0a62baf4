// SPDX-License-Identifier: Apache-2.0
// Grizzly with Jersey's container for it.
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
    /** Held, since a logger that nobody holds forgets its level. */
    private static final Logger SHUTDOWN =
            Logger.getLogger("org.glassfish.grizzly.nio.GracefulShutdownRunner");

    private GrizzlySubject() {}

    public static void main(String[] arguments) throws Exception {
        SHUTDOWN.setLevel(Level.SEVERE); // That it is shut down it warns of.
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
        int loops = listener.getTransport().getSelectorRunnersCount(); // One more than cores.
        listener.registerAddOn(new Completion());
        listener.getTransport().setServerConnectionBackLog(RestSubject.BACKLOG);
        listener.getTransport()
                .getWorkerThreadPoolConfig()
                .setCorePoolSize(workers)
                .setMaxPoolSize(workers);
        listener.getFileCache().setEnabled(false); // What it answers with does not end a connection.
        listener.getKeepAlive().setMaxRequestsCount(-1); // It is 256.
        listener.getKeepAlive().setIdleTimeoutInSeconds((int) RestSubject.IDLE.toSeconds());
        server.start();
        return new RunningServer(listener.getPort(), workers, loops, () -> stop(server));
    }

    /** Grizzly could end the waiting itself, but not the threads that waited. */
    private static void stop(HttpServer server) throws Exception {
        Future<HttpServer> stopped = server.shutdown();
        try {
            stopped.get(RestSubject.GRACE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            server.shutdownNow();
        }
    }
}
