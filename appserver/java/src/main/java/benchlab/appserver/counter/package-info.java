// SPDX-License-Identifier: Apache-2.0
/**
 * Counters that several threads share and that lose no update. {@link
 * benchlab.appserver.counter.AtomicCounter} is the one to begin with.
 */
package benchlab.appserver.counter;
