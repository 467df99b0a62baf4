// SPDX-License-Identifier: Apache-2.0
/**
 * Counters that threads share without losing updates. {@link
 * benchlab.appserver.counter.AtomicCounter} is the one to begin with.
 */
package benchlab.appserver.counter;
