// SPDX-License-Identifier: Apache-2.0
// A bean that calls another one in its transaction.
package benchlab.appserver.retry;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.Transactional;

@ApplicationScoped
class Caller {

    @Retried
    @Transactional
    public void marked(Ledger.Step step) throws Exception {
        step.run();
    }

    @Transactional
    public void unmarked(Ledger.Step step) throws Exception {
        step.run();
    }
}
