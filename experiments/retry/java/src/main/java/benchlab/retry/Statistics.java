// SPDX-License-Identifier: Apache-2.0
// What became of attempts at calls.
package benchlab.retry;

import benchlab.kit.Result;
import java.util.EnumMap;
import java.util.Map;

/**
 * @param faults how many attempts ended with each fault; it has all of them
 * @param retries how many attempts were made after the first one of their call
 */
record Statistics(Map<TransientError, Long> faults, long retries) {

    Statistics since(Statistics before) {
        var more = new EnumMap<TransientError, Long>(TransientError.class);
        faults.forEach((fault, count) -> more.put(fault, count - before.faults.get(fault)));
        return new Statistics(more, retries - before.retries);
    }

    /** A batch's result with its metrics, in per cent of its calls. */
    Result addTo(Result result) {
        double percent = 100.0 / result.units();
        Result with = result.with("retried", percent * retries);
        for (var fault : faults.entrySet()) {
            with = with.with(fault.getKey().metric(), percent * fault.getValue());
        }
        return with;
    }
}
