// SPDX-License-Identifier: Apache-2.0
/**
 * Counters that threads share without losing updates. Start with {@link
 * benchlab.appserver.counter.AtomicCounter}.
 */
@NullMarked
package benchlab.appserver.counter;

import org.jspecify.annotations.NullMarked;
