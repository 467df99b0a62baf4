// SPDX-License-Identifier: Apache-2.0
// Tomcat, embedded, with Jersey as a servlet.
package benchlab.rest;

import benchlab.kit.Serving;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.core.StandardService;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.util.ServerInfo;
import org.apache.catalina.util.SessionIdGeneratorBase;
import org.apache.coyote.http11.Http11NioProtocol;
import org.glassfish.jersey.internal.Version;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.servlet.ServletContainer;

final class TomcatSubject {
    /**
     * The number of threads in addition to the workers: one that accepts connections, and one that
     * waits for requests.
     */
    private static final int LOOPS = 2;

    /**
     * The logger of a warning that the first random number took more than 100 ms. This does not
     * matter here, because there are no sessions.
     */
    private static final Logger SESSIONS = Logger.getLogger(SessionIdGeneratorBase.class.getName());

    private TomcatSubject() {}

    public static void main(String[] arguments) throws Exception {
        SESSIONS.setLevel(Level.SEVERE);
        RestSubject.serve(
                "java-tomcat",
                "Tomcat " + ServerInfo.getServerNumber() + ", Jersey " + Version.getVersion(),
                TomcatSubject::open);
    }

    private static Serving open(int workers, Path files) throws Exception {
        var tomcat = new Tomcat();
        var base = new TemporaryFolder();
        tomcat.setBaseDir(base.path().toString()); // First, because otherwise a directory is created in the current one.
        Connector connector = connector(workers);
        tomcat.setConnector(connector);
        addApi(context(tomcat, "", null));
        addFiles(context(tomcat, "/files", files.toString()));
        var service = (StandardService) tomcat.getService();
        service.setGracefulStopAwaitMillis(RestSubject.GRACE.toMillis());
        tomcat.start();
        return new RunningServer(connector.getLocalPort(), workers, LOOPS, () -> {
            tomcat.stop();
            tomcat.destroy();
            base.close();
        });
    }

    private static Connector connector(int workers) throws Exception {
        var protocol = new Http11NioProtocol();
        protocol.setAddress(InetAddress.getByName(RestSubject.HOST));
        protocol.setAcceptCount(RestSubject.BACKLOG);
        protocol.setMaxThreads(workers);
        protocol.setMinSpareThreads(workers);
        protocol.setMaxKeepAliveRequests(-1); // The default is 100.
        protocol.setKeepAliveTimeout((int) RestSubject.IDLE.toMillis());
        protocol.setConnectionTimeout((int) RestSubject.IDLE.toMillis());
        var connector = new Connector(protocol);
        connector.setPort(0);
        connector.setProperty("bindOnInit", "false"); // Otherwise the connector does not stop gracefully.
        return connector;
    }

    /** Creates a context that does not search for leaks of an undeployed application when it is stopped. */
    private static Context context(Tomcat tomcat, String path, String folder) {
        var context = (StandardContext) tomcat.addContext(path, folder);
        context.setUnloadDelay(100); // In ms; the connector has already waited for requests in progress.
        context.setClearReferencesRmiTargets(false);
        context.setClearReferencesThreadLocals(false);
        return context;
    }

    private static void addApi(Context context) {
        var jersey = new ServletContainer(ResourceConfig.forApplicationClass(RestApplication.class));
        Tomcat.addServlet(context, "api", jersey);
        context.addServletMapping("/api/*", "api");
    }

    private static void addFiles(Context context) {
        Wrapper servlet = Tomcat.addServlet(context, "files", new FileServlet());
        servlet.addInitParameter("allowPostAsGet", "false");
        context.addServletMapping("/", "files");
        Tomcat.addDefaultMimeTypeMappings(context);
    }
}
