// SPDX-License-Identifier: Apache-2.0
/** Concurrent caches. */
module benchlab.appserver.cache {
    requires static transitive org.jspecify;

    exports benchlab.appserver.cache;
}
