// SPDX-License-Identifier: Apache-2.0
/**
 * Concurrent caches with expiry and loading on a miss. {@link benchlab.appserver.cache.Cache} is
 * the interface of the four implementations; start with {@link
 * benchlab.appserver.cache.ConcurrentCache}.
 */
package benchlab.appserver.cache;
