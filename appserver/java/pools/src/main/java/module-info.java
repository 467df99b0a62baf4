// SPDX-License-Identifier: Apache-2.0
/** A bounded pool of costly resources. */
module benchlab.appserver.pool {
    requires static transitive org.jspecify;

    exports benchlab.appserver.pool;
}
