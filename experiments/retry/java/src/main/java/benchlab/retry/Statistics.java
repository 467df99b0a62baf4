// SPDX-License-Identifier: Apache-2.0
// The results of attempts.
package benchlab.retry;

import benchlab.kit.Result;
import java.util.EnumMap;
import java.util.Map;

/**
 * Counts of attempts.
 *
 * @param faults the number of attempts that ended with each fault; has an entry for every fault
 * @param retries the number of attempts after the first one of their call
 */
record Statistics(Map<TransientError, Long> faults, long retries) {

    Statistics since(Statistics before) {
        var more = new EnumMap<TransientError, Long>(TransientError.class);
        faults.forEach((fault, count) -> more.put(fault, count - before.faults.get(fault)));
        return new Statistics(more, retries - before.retries);
    }

    /** Adds the metrics of a batch to its result, as percentages of its calls. */
    Result addTo(Result result) {
        double percent = 100.0 / result.units();
        Result with = result.with("retried", percent * retries);
        for (var fault : faults.entrySet()) {
            with = with.with(fault.getKey().metric(), percent * fault.getValue());
        }
        return with;
    }
}
