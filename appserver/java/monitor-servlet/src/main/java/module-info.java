// SPDX-License-Identifier: Apache-2.0
/** Metrics of servlet containers. */
module benchlab.appserver.monitor.servlet {
    requires static transitive org.jspecify;
    requires transitive benchlab.appserver.monitor;
    requires transitive jakarta.servlet;

    exports benchlab.appserver.monitor.servlet;
}
