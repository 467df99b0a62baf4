// SPDX-License-Identifier: Apache-2.0
/**
 * Concurrent caches with eviction, expiry and loading on a miss. {@link benchlab.appserver.cache.Cache} is
 * the interface of the four implementations; start with {@link
 * benchlab.appserver.cache.ConcurrentCache}.
 */
@NullMarked
package benchlab.appserver.cache;

import org.jspecify.annotations.NullMarked;
