// SPDX-License-Identifier: Apache-2.0
/** Metrics of requests and queries. */
module benchlab.appserver.monitor {
    requires static transitive org.jspecify;
    requires transitive java.sql;
    requires java.management;

    exports benchlab.appserver.monitor;
}
