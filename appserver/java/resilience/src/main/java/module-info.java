// SPDX-License-Identifier: Apache-2.0
/**
 * Retries of any call, and other guards against failures of the services that a program depends on.
 */
module benchlab.appserver.resilience {
    requires static transitive org.jspecify;

    exports benchlab.appserver.resilience;
}
