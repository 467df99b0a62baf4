// SPDX-License-Identifier: Apache-2.0
/** Child processes. */
module benchlab.appserver.process {
    requires static transitive org.jspecify;

    exports benchlab.appserver.process;
}
