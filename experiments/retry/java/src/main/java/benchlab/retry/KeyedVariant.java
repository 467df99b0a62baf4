// SPDX-License-Identifier: Apache-2.0
// benchlab.appserver.retry, with an idempotency key for each call.
package benchlab.retry;

import benchlab.appserver.resilience.Budget;
import benchlab.appserver.resilience.CircuitBreaker;
import benchlab.appserver.resilience.HttpFailures;
import benchlab.appserver.resilience.RetryListener;
import benchlab.appserver.resilience.RetryPolicy;
import benchlab.appserver.retry.IdempotencyTable;
import benchlab.appserver.retry.Policy;
import benchlab.appserver.retry.Retry;
import benchlab.appserver.retry.RetryStatistics;
import benchlab.appserver.retry.RetryMetrics;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.concurrent.atomic.LongAdder;

/** A variant with idempotency keys, in which the library begins and commits the transactions. */
final class KeyedVariant implements Variant {

    private static final int ATTEMPTS = 5;

    private final RetryMetrics metrics = new RetryMetrics();
    private final IdempotencyTable table = new IdempotencyTable(KeyTable.NAME);
    private final KeyTable keys;
    private final Policy policy;

    /**
     * The policy for requests to the service, which are idempotent because the service stores the
     * key.
     */
    private final RetryPolicy requests =
            RetryPolicy.of(HttpFailures::classify)
                    .attempts(ATTEMPTS)
                    .idempotent(true)
                    .listener(new RequestCounter());

    private final LongAdder requestRetries = new LongAdder();
    private final LongAdder requestFaults = new LongAdder();

    private final class RequestCounter implements RetryListener {
        @Override
        public void onRetry(FailedAttempt attempt, Duration delay) {
            requestFaults.increment();
            requestRetries.increment();
        }

        @Override
        public void onFailure(FailedAttempt last) {
            requestFaults.increment();
        }
    }

    /**
     * Creates the variant.
     *
     * @param keys the table of keys
     * @param budget limits retries; null for no limit other than the attempts
     * @param breaker rejects attempts during an outage; null for none
     */
    KeyedVariant(KeyTable keys, Budget budget, CircuitBreaker breaker) {
        this.keys = keys;
        policy = Policy.ofAttempts(ATTEMPTS).metrics(metrics).budget(budget).breaker(breaker);
    }

    @Override
    public void call(Client client, long batch, long k) throws SQLException, IOException {
        if (client.service() != null) {
            String key = keys.key(batch, k);
            requests.<Void, IOException>call(
                    () -> {
                        client.service().request(batch, k, key);
                        return null;
                    });
            return;
        }
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
        faults.merge(TransientError.DISCONNECTED, requestFaults.sum(), Long::sum);
        return new Statistics(faults, statistics.retries() + requestRetries.sum());
    }

    @Override
    public void close() throws SQLException {
        keys.close();
    }
}
