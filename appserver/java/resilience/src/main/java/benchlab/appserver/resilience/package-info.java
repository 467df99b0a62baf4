// SPDX-License-Identifier: Apache-2.0
/**
 * Guards for calls that may fail: retries, circuit breakers, bulkheads, time limiters, hedging and
 * fallbacks. Each {@link benchlab.appserver.resilience.Guard} runs a call, and guards can be
 * combined.
 */
@NullMarked
package benchlab.appserver.resilience;

import org.jspecify.annotations.NullMarked;
