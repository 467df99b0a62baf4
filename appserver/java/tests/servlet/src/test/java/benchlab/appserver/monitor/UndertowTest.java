// SPDX-License-Identifier: Apache-2.0
// The filter in Undertow.
package benchlab.appserver.monitor;

import benchlab.appserver.monitor.servlet.MonitorFilter;
import io.undertow.Undertow;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.InstanceFactory;
import io.undertow.servlet.util.ImmediateInstanceFactory;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.Servlet;
import java.net.InetSocketAddress;
import java.util.Map;

class UndertowTest extends ContainerTest {

    private Undertow server;

    @Override
    int start(Filter filter, Map<String, Servlet> servlets) throws Exception {
        var deployment =
                Servlets.deployment()
                        .setClassLoader(getClass().getClassLoader())
                        .setContextPath("/")
                        .setDeploymentName("test")
                        .addFilter(
                                Servlets.filter("monitor", MonitorFilter.class, of(filter))
                                        .setAsyncSupported(true))
                        .addFilterUrlMapping("monitor", "/*", DispatcherType.REQUEST);
        servlets.forEach(
                (path, servlet) ->
                        deployment.addServlet(
                                Servlets.servlet(path, servlet.getClass(), of(servlet))
                                        .setAsyncSupported(true)
                                        .addMapping(path)));
        var manager = Servlets.defaultContainer().addDeployment(deployment);
        manager.deploy();
        server =
                Undertow.builder()
                        .addHttpListener(0, "127.0.0.1")
                        .setHandler(manager.start())
                        .build();
        server.start();
        return ((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort();
    }

    @SuppressWarnings("unchecked")
    private static <T> InstanceFactory<T> of(Object instance) {
        return new ImmediateInstanceFactory<>((T) instance);
    }

    @Override
    void stop() {
        server.stop();
    }
}
