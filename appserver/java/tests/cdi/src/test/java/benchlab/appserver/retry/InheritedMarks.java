// SPDX-License-Identifier: Apache-2.0
// Beans that inherit their annotations.
package benchlab.appserver.retry;

import jakarta.enterprise.context.ApplicationScoped;

class InheritedMarks {

    static class Plain {
        public void inherited(Ledger.Step step) throws Exception {
            step.run();
        }
    }

    @ApplicationScoped
    @Retried("once")
    static class Marked extends Plain {
        public void own(Ledger.Step step) throws Exception {
            step.run();
        }

        @Retried
        public void marked(Ledger.Step step) throws Exception {
            step.run();
        }
    }
}
