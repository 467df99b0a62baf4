// SPDX-License-Identifier: Apache-2.0
// Checks the accounts of a budget under contention, for the duration that Stress defines.
package benchlab.appserver.resilience;

import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.Stress;
import java.util.Collections;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

class BudgetStressTest {

    private static final int THREADS = 4;

    /** No retry is spent twice, and none is lost. */
    @Test
    void aBudgetIsNotOverdrawn() throws Exception {
        var budget = new Budget(0.5, 100);
        var deadline = new Stress.Deadline(Stress.part(1));
        Callable<long[]> task =
                () -> {
                    long[] counts = new long[2];
                    while (counts[0] < 200 || !deadline.passed()) {
                        budget.earn();
                        counts[0]++;
                        counts[1] += budget.spend() ? 1 : 0;
                    }
                    return counts;
                };
        long earned = 0;
        long spent = 0;
        for (long[] counts : Stress.together(Collections.nCopies(THREADS, task))) {
            earned += counts[0];
            spent += counts[1];
        }
        assertTrue(spent + budget.available() <= 100 + earned / 2, spent + " of " + earned);
        assertTrue(spent >= 100, spent + " of " + earned);
    }
}
