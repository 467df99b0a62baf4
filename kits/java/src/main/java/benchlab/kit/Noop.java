// SPDX-License-Identifier: Apache-2.0
// The case noop: what the protocol, the waking and the freezing cost.
package benchlab.kit;

final class Noop implements Case {

    @Override
    public Result perform(long operations) {
        return new Result(operations, operations);
    }

    @Override
    public void close() {}
}
