// SPDX-License-Identifier: Apache-2.0
/** Counters that threads share. */
module benchlab.appserver.counter {
    requires static transitive org.jspecify;

    exports benchlab.appserver.counter;
}
