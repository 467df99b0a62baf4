// SPDX-License-Identifier: Apache-2.0
// The JDK's own server, com.sun.net.httpserver.
package benchlab.rest;

import benchlab.kit.Serving;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;

final class JdkSubject {
    /** The number of threads that accept connections and wait for requests. */
    private static final int LOOPS = 1;

    private JdkSubject() {}

    /** Sets properties that the server reads when it is loaded. */
    public static void main(String[] arguments) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true"); // Otherwise responses are delayed by 40 ms.
        System.setProperty("sun.net.httpserver.maxIdleConnections", "10000"); // The default is 200.
        System.setProperty(
                "sun.net.httpserver.idleInterval", Long.toString(RestSubject.IDLE.toSeconds()));
        RestSubject.serve(
                "java-jdk", "com.sun.net.httpserver " + Runtime.version().feature(), JdkSubject::open);
    }

    private static Serving open(int workers, Path files) throws Exception {
        var address = new InetSocketAddress(RestSubject.HOST, 0);
        HttpServer server = HttpServer.create(address, RestSubject.BACKLOG);
        var ending = new Ending();
        ending.add(server, "/", exchange -> Answer.send(exchange, 404));
        ending.add(server, "/api", Route.get(JdkApi::greeting));
        ending.add(server, "/api/built", Route.get(JdkApi::built));
        ending.add(server, "/api/hello/", Route.getEach(JdkApi::hello));
        ending.add(server, "/api/echo", Route.post(JdkApi::echo));
        ending.add(server, "/files/", Route.getEach(new FileHandler(files)));
        var pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(workers);
        server.setExecutor(pool);
        server.start();
        return new RunningServer(
                server.getAddress().getPort(), workers, LOOPS, () -> stop(server, pool, ending));
    }

    /**
     * Stops the server. {@link HttpServer#stop} accepts no more connections and then waits for the
     * requests in progress. Older releases do not notice when the last request ends. Newer releases
     * miss its end if a client closes its connection at that moment. This method therefore watches
     * the pool and ends the wait itself.
     *
     * <p>{@code HttpServer.stop} also ignores a request that is still being read, and would cut off
     * its response. {@link Ending} therefore closes the connection of every request that arrives
     * during shutdown.
     */
    private static void stop(HttpServer server, ThreadPoolExecutor pool, Ending ending)
            throws InterruptedException {
        ending.begin();
        var waiting = new Thread(() -> server.stop((int) RestSubject.GRACE.toSeconds()));
        waiting.start();
        do {
            waiting.join(10);
        } while (waiting.isAlive() && pool.getActiveCount() + pool.getQueue().size() > 0);
        server.stop(0);
        waiting.join();
        pool.shutdown();
    }
}
