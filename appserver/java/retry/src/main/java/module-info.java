// SPDX-License-Identifier: Apache-2.0
/** Retries of database transactions. */
module benchlab.appserver.retry {
    requires static transitive org.jspecify;
    requires benchlab.appserver.counter;
    requires transitive benchlab.appserver.resilience;
    requires transitive java.sql;
    requires static jakarta.cdi;
    requires static jakarta.interceptor;

    exports benchlab.appserver.retry;
}
