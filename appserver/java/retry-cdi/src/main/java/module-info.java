// SPDX-License-Identifier: Apache-2.0
/** Retries in CDI and EJB. */
open module benchlab.appserver.retry.cdi {
    requires static transitive org.jspecify;
    requires transitive benchlab.appserver.retry;
    requires transitive jakarta.interceptor;
    requires transitive jakarta.annotation;
    requires jakarta.cdi;
    requires jakarta.inject;
    requires static jakarta.transaction;
    requires java.naming;

    exports benchlab.appserver.retry.cdi;
}
