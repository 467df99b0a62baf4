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
record Figures(Map<PassingFault, Long> faults, long retries) {

    Figures since(Figures before) {
        var more = new EnumMap<PassingFault, Long>(PassingFault.class);
        faults.forEach((fault, count) -> more.put(fault, count - before.faults.get(fault)));
        return new Figures(more, retries - before.retries);
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
