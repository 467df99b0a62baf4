// SPDX-License-Identifier: Apache-2.0
// benchlab.appserver.retry, with an idempotency key for each call.
package benchlab.retry;

import benchlab.appserver.resilience.Budget;
import benchlab.appserver.retry.IdempotencyTable;
import benchlab.appserver.retry.Policy;
import benchlab.appserver.retry.Retry;
import benchlab.appserver.retry.RetryStatistics;
import benchlab.appserver.retry.RetryMetrics;
import java.sql.SQLException;
import java.util.EnumMap;

/** The library begins and commits the transactions. */
final class KeyedVariant implements Variant {

    private static final int ATTEMPTS = 5;

    private final RetryMetrics metrics = new RetryMetrics();
    private final IdempotencyTable table = new IdempotencyTable(KeyTable.NAME);
    private final KeyTable keys;
    private final Policy policy;

    /**
     * Creates the variant.
     *
     * @param keys the table of keys
     * @param budget limits retries; null for no limit other than the attempts
     */
    KeyedVariant(KeyTable keys, Budget budget) {
        this.keys = keys;
        policy = Policy.ofAttempts(ATTEMPTS).metrics(metrics).budget(budget);
    }

    @Override
    public void call(Client client, long batch, long k) throws SQLException {
        Retry.call(
                policy,
                client.transactions(),
                table.key(keys.key(batch, k)),
                connection -> {
                    client.work(connection, k);
                    return null;
                });
    }

    @Override
    public Statistics statistics() {
        RetryStatistics statistics = metrics.statistics();
        var faults = new EnumMap<TransientError, Long>(TransientError.class);
        for (var counted : statistics.faults().entrySet()) {
            TransientError.of(counted.getKey())
                    .ifPresent(fault -> faults.merge(fault, counted.getValue(), Long::sum));
        }
        return new Statistics(faults, statistics.retries());
    }

    @Override
    public void close() throws SQLException {
        keys.close();
    }
}
