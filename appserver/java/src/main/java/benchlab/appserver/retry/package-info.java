// SPDX-License-Identifier: Apache-2.0
/**
 * Retries of database transactions after transient errors, so that each transaction takes effect
 * once: {@link benchlab.appserver.retry.Retry}.
 */
package benchlab.appserver.retry;
