// SPDX-License-Identifier: Apache-2.0
/**
 * Calls of a database that are made again after a fault that passes, with one effect: {@link
 * benchlab.appserver.retry.Retry}.
 */
package benchlab.appserver.retry;
