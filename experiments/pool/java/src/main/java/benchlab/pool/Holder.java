// SPDX-License-Identifier: Apache-2.0
// What is done with a resource while it is leased.
package benchlab.pool;

@FunctionalInterface
interface Holder {

    /** A holder fails on purpose. */
    final class Failed extends Exception {
        private static final long serialVersionUID = 1;
    }

    /** @return what operation {@code k} adds to the check */
    long hold(Resource resource, long k) throws Failed;
}
