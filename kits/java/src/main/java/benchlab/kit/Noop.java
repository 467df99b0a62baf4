// SPDX-License-Identifier: Apache-2.0
// The case noop, which measures the cost of the protocol, of waking and of freezing.
package benchlab.kit;

final class Noop implements Case {

    @Override
    public Result perform(long operations) {
        return new Result(operations, operations);
    }

    @Override
    public void close() {}
}
