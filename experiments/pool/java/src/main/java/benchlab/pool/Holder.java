// SPDX-License-Identifier: Apache-2.0
// The use of a leased resource.
package benchlab.pool;

@FunctionalInterface
interface Holder {

    /** Thrown by a holder that fails on purpose. */
    final class Failed extends Exception {
        private static final long serialVersionUID = 1;
    }

    /**
     * Uses a resource.
     *
     * @param resource the leased resource
     * @param k the number of the operation
     * @return the value to add to the check
     * @throws Failed if the holder fails on purpose
     */
    long hold(Resource resource, long k) throws Failed;
}
