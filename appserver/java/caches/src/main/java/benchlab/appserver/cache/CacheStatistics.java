// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

/**
 * Counts since the creation of a cache with {@link CacheOptions#recordStatistics}; all are 0
 * without it. Counts that change during the call may or may not be included.
 *
 * @param hits the number of reads that found a value
 * @param misses the number of reads that found no value, or an expired value
 * @param loads the number of values that loaders returned, refreshes included
 * @param loadFailures the number of loaders that failed
 * @param evictions the number of values removed because of the maximum size or weight
 * @param evictedWeight the total weight of the evicted values
 * @param expirations the number of values removed because they had expired
 */
public record CacheStatistics(
        long hits,
        long misses,
        long loads,
        long loadFailures,
        long evictions,
        long evictedWeight,
        long expirations) {

    static final CacheStatistics NONE = new CacheStatistics(0, 0, 0, 0, 0, 0, 0);

    /**
     * Returns the fraction of reads that found a value.
     *
     * @return from 0 to 1; 1 if there were no reads
     */
    public double hitRate() {
        return hits + misses == 0 ? 1 : (double) hits / (hits + misses);
    }
}
