// SPDX-License-Identifier: Apache-2.0
// The case write: one thread replaces entries.
package benchlab.cache;

import benchlab.kit.Case;
import benchlab.kit.Result;

record Write(SharedMap map, Trace trace) implements Case {

    /**
     * Replaces entries. The check is the sum of the values written, plus the value found for the
     * last key.
     */
    @Override
    public Result perform(long operations) {
        long check = 0;
        for (long k = 0; k < operations; k++) {
            map.put(trace.key(k), trace.value(k));
            check += trace.value(k);
        }
        return new Result(operations, check + map.get(trace.key(operations - 1)));
    }

    @Override
    public void close() {}
}
