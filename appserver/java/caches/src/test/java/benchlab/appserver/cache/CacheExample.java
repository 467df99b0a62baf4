// SPDX-License-Identifier: Apache-2.0
// An example of a cache: each price is read from a database at most once a minute.
package benchlab.appserver.cache;

import java.time.Duration;

/** The prices of a shop, which rarely change. */
final class CacheExample {
    private final Cache<String, Long> prices =
            new ConcurrentCache<>(
                    CacheOptions.UNLIMITED.maximumSize(10_000).timeToLive(Duration.ofMinutes(1)));
    private final Loader<String, Long> database;

    CacheExample(Loader<String, Long> database) {
        this.database = database;
    }

    long price(String article) {
        return prices.get(article, database);
    }

    /**
     * Removes a price from the cache. Must be called after the price has changed in the database.
     */
    void changed(String article) {
        prices.remove(article);
    }
}
