// SPDX-License-Identifier: Apache-2.0
// The example of the README.
package benchlab.appserver.retry;

import benchlab.appserver.resilience.Budget;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;

final class RetryExample {
    private final RetryMetrics metrics = new RetryMetrics();
    private final Policy policy =
            Policy.ofAttempts(5) // That is, 4 retries.
                    .deadline(Duration.ofSeconds(10))
                    .budget(new Budget(0.1, 20))
                    .metrics(metrics);
    private final IdempotencyTable keys = new IdempotencyTable("retry_key");
    private final Transactions transactions;

    RetryExample(Transactions.Source source) {
        transactions = new Transactions(source);
    }

    /**
     * Stores an order once, even if the response to the COMMIT is lost or the client repeats the
     * request.
     */
    long order(String request, int article, int count) throws SQLException {
        return Retry.call(
                policy,
                transactions,
                keys.key(request, Object::toString, Long::valueOf),
                connection -> {
                    try (var insert =
                            connection.prepareStatement("INSERT INTO ordered VALUES (?, ?)")) {
                        insert.setInt(1, article);
                        insert.setInt(2, count);
                        return (long) insert.executeUpdate();
                    }
                });
    }

    /**
     * Changes the price of an article that was read in version {@code version}. Throws
     * StaleVersionException if the article has changed since.
     */
    void changePrice(int article, long version, long price) throws SQLException {
        Retry.call(
                policy.without(Fault.STALE_VERSION), // Only the caller can read it again.
                transactions,
                connection -> {
                    try (var update =
                            connection.prepareStatement(
                                    "UPDATE article SET price = ?, version = version + 1"
                                            + " WHERE id = ? AND version = ?")) {
                        update.setLong(1, price);
                        update.setInt(2, article);
                        update.setLong(3, version);
                        Versions.executeVersioned(update);
                        return null;
                    }
                });
    }

    String metrics() {
        return RetryStatistics.prometheus(Map.of("shop", metrics.statistics()));
    }
}
