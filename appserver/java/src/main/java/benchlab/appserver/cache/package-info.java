// SPDX-License-Identifier: Apache-2.0
/**
 * Maps that are read all the time and seldom written: {@link benchlab.appserver.cache.Cache}, in
 * four schemes. {@link benchlab.appserver.cache.ConcurrentCache} is the one to begin with.
 */
package benchlab.appserver.cache;
