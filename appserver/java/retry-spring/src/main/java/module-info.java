// SPDX-License-Identifier: Apache-2.0
/** Retries in Spring. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // Spring has no module descriptors.
open module benchlab.appserver.retry.spring {
    requires static transitive org.jspecify;
    requires transitive benchlab.appserver.retry;
    requires transitive spring.context;
    requires spring.aop;
    requires spring.beans;
    requires spring.core;
    requires spring.tx;

    exports benchlab.appserver.retry.spring;
}
