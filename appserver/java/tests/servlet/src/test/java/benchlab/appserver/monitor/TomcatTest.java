// SPDX-License-Identifier: Apache-2.0
// The filter in Tomcat.
package benchlab.appserver.monitor;

import jakarta.servlet.Filter;
import jakarta.servlet.Servlet;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.catalina.servlets.DefaultServlet;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

class TomcatTest extends ContainerTest {

    private final Tomcat tomcat = new Tomcat();

    @Override
    int start(Filter filter, Map<String, Servlet> servlets) throws Exception {
        Path folder = Files.createTempDirectory("tomcat");
        folder.toFile().deleteOnExit();
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        var context = tomcat.addContext("", null);
        var definition = new FilterDef();
        definition.setFilterName("monitor");
        definition.setFilter(filter);
        definition.setAsyncSupported("true");
        context.addFilterDef(definition);
        var map = new FilterMap();
        map.setFilterName("monitor");
        map.addURLPattern("/*");
        context.addFilterMap(map);
        servlets.forEach(
                (path, servlet) -> {
                    var named = Tomcat.addServlet(context, path, servlet);
                    named.setAsyncSupported(true);
                    named.addMapping(path);
                });
        // Tomcat only calls filters for paths with a servlet; web applications have this default
        // one.
        Tomcat.addServlet(context, "default", DefaultServlet.class.getName()).addMapping("/");
        tomcat.start();
        return tomcat.getConnector().getLocalPort();
    }

    @Override
    void stop() throws Exception {
        tomcat.stop();
        tomcat.destroy();
    }
}
