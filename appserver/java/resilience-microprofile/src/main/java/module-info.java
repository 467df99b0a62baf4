// SPDX-License-Identifier: Apache-2.0
/** The annotations of MicroProfile Fault Tolerance. */
@SuppressWarnings("requires-automatic") // The annotations have no module descriptor.
open module benchlab.appserver.resilience.microprofile {
    requires static transitive org.jspecify;
    requires transitive benchlab.appserver.resilience;
    requires transitive jakarta.interceptor;
    requires transitive jakarta.annotation;
    requires transitive jakarta.cdi;
    requires jakarta.inject;
    requires java.sql;
    requires microprofile.fault.tolerance.api;

    exports benchlab.appserver.resilience.microprofile;

    provides jakarta.enterprise.inject.spi.Extension with
            benchlab.appserver.resilience.microprofile.FaultToleranceExtension;
}
