// SPDX-License-Identifier: Apache-2.0
// The case evict: each operation sends a trace of requests to a new, bounded cache.
package benchlab.cache;

import benchlab.appserver.cache.Cache;
import benchlab.appserver.cache.CacheOptions;
import benchlab.appserver.cache.ConcurrentCache;
import benchlab.kit.Case;
import benchlab.kit.Result;
import java.util.function.LongUnaryOperator;

record Evict(Factory factory, Long[] trace) implements Case {

    private static final int CAPACITY = 1_000;

    /** A bounded cache that loads the value of a key on a miss. */
    interface LoadingMap {
        Long get(Long key);
    }

    /** Creates caches. */
    @FunctionalInterface
    interface Factory {
        /** Creates an empty cache. On a miss it calls {@code loader}. */
        LoadingMap create(int capacity, LongUnaryOperator loader);
    }

    static LoadingMap appserver(int capacity, LongUnaryOperator loader) {
        Cache<Long, Long> cache =
                new ConcurrentCache<>(CacheOptions.UNLIMITED.maximumSize(capacity));
        return key -> cache.get(key, k -> loader.applyAsLong(k));
    }

    /** The loader: key k has the value k + 1. */
    private static final class Source implements LongUnaryOperator {
        long loads;

        @Override
        public long applyAsLong(long key) {
            loads++;
            return key + 1;
        }
    }

    /**
     * Sends the requests of a trace to a new cache in each operation. The check is the sum of the
     * values, which does not depend on the eviction policy.
     */
    @Override
    public Result perform(long operations) {
        long check = 0;
        var source = new Source();
        for (long k = 0; k < operations; k++) {
            LoadingMap cache = factory.create(CAPACITY, source);
            for (Long key : trace) {
                check += cache.get(key);
            }
        }
        long requests = operations * trace.length;
        return new Result(requests, check)
                .with("hit_rate", 100.0 * (requests - source.loads) / requests);
    }

    @Override
    public void close() {}
}
