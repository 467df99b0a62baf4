// SPDX-License-Identifier: Apache-2.0
/**
 * Concurrent caches with expiry and loading on a miss: {@link benchlab.appserver.cache.Cache}, in
 * four schemes. {@link benchlab.appserver.cache.ConcurrentCache} is the one to begin with.
 */
package benchlab.appserver.cache;
