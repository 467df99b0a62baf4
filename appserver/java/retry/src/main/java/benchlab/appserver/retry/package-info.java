// SPDX-License-Identifier: Apache-2.0
/**
 * Retries of database transactions after transient errors, so that each transaction takes effect
 * once: {@link benchlab.appserver.retry.Retry}.
 */
@NullMarked
package benchlab.appserver.retry;

import org.jspecify.annotations.NullMarked;
