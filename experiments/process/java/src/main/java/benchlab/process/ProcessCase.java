// SPDX-License-Identifier: Apache-2.0
package benchlab.process;

import benchlab.kit.Case;
import benchlab.kit.Result;
import java.util.Map;

/**
 * An open case: its operation, and the memory that makes this process large. The measured time of a
 * batch ends with its last operation; leaked resources are counted afterwards.
 */
final class ProcessCase implements Case {

    private final Parent parent;
    private final Operation operation;
    private final int descriptors;

    ProcessCase(Parent parent, Operation operation) throws Exception {
        this.parent = parent;
        this.operation = operation;
        descriptors = Left.descriptors();
    }

    @Override
    public Result perform(long operations) throws Exception {
        long check = 0;
        double measured = 0;
        long start = System.nanoTime();
        for (long k = 0; k < operations; k++) {
            check += operation.perform();
            measured += operation.measured();
        }
        long end = System.nanoTime();
        var times = new Result.Times(start, end, null);
        var result =
                new Result(operations * operation.units(), check, times, Map.of())
                        .with("descriptors", Left.descriptorsBeyond(descriptors))
                        .with("children", Left.children());
        return operation.metric() == null
                ? result
                : result.with(operation.metric(), measured / operations);
    }

    @Override
    public void close() throws Exception {
        parent.close();
        operation.close();
    }
}
