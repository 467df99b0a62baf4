// SPDX-License-Identifier: Apache-2.0
// The JDK's own server, com.sun.net.httpserver.
package benchlab.rest;

import benchlab.kit.Serving;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

final class JdkSubject {
    /** One thread accepts connections and waits for requests. */
    private static final int LOOPS = 1;

    private JdkSubject() {}

    /** What is set here has no other place: the server reads it when it is loaded. */
    public static void main(String[] arguments) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true"); // Else answers wait for 40 ms.
        System.setProperty("sun.net.httpserver.maxIdleConnections", "10000"); // It is 200.
        System.setProperty(
                "sun.net.httpserver.idleInterval", Long.toString(RestSubject.IDLE.toSeconds()));
        RestSubject.serve(
                "java-jdk", "com.sun.net.httpserver " + Runtime.version().feature(), JdkSubject::open);
    }

    private static Serving open(int workers, Path files) throws Exception {
        var address = new InetSocketAddress(RestSubject.HOST, 0);
        HttpServer server = HttpServer.create(address, RestSubject.BACKLOG);
        server.createContext("/", exchange -> Answer.send(exchange, 404));
        server.createContext("/api", Route.get(JdkApi::greeting));
        server.createContext("/api/built", Route.get(JdkApi::built));
        server.createContext("/api/hello/", Route.getEach(JdkApi::hello));
        server.createContext("/api/echo", Route.post(JdkApi::echo));
        server.createContext("/files/", Route.getEach(new FileHandler(files)));
        var pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(workers);
        pool.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        server.setExecutor(pool);
        server.start();
        return new RunningServer(
                server.getAddress().getPort(), workers, LOOPS, () -> stop(server, pool));
    }

    /**
     * The server's own stop does not reliably see that an answer is under way, and closes its connection then. So the
     * pool ends first: it finishes what it has, and begins nothing more.
     */
    private static void stop(HttpServer server, ThreadPoolExecutor pool)
            throws InterruptedException {
        pool.shutdown();
        pool.awaitTermination(RestSubject.GRACE.toSeconds(), TimeUnit.SECONDS);
        server.stop(0);
    }
}
