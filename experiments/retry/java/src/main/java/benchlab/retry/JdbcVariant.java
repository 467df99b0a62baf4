// SPDX-License-Identifier: Apache-2.0
// Variants without knowledge of transactions: they retry after exceptions.
package benchlab.retry;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;

/**
 * A variant in which each attempt is an HTTP request, or a plain JDBC transaction from its first
 * statement to its COMMIT.
 */
final class JdbcVariant implements Variant {

    private final Retrying retrying;
    private final KeyTable keys;
    private final Map<TransientError, LongAdder> faults = new EnumMap<>(TransientError.class);
    private final LongAdder retries = new LongAdder();

    /** Makes attempts until one succeeds or the retries are exhausted. */
    @FunctionalInterface
    interface Retrying {
        /**
         * Retries an attempt.
         *
         * @param attempt the attempt
         * @throws Exception the exception of the last attempt
         */
        void call(Callable<Void> attempt) throws Exception;
    }

    /** Creates a variant without keys. */
    JdbcVariant(Retrying retrying) {
        this(retrying, null);
    }

    /**
     * Creates a variant whose transactions insert the call's key first, and do nothing if the key
     * exists.
     */
    JdbcVariant(Retrying retrying, KeyTable keys) {
        this.retrying = retrying;
        this.keys = keys;
        for (TransientError fault : TransientError.values()) {
            faults.put(fault, new LongAdder());
        }
    }

    @Override
    public void call(Client client, long batch, long k) throws Exception {
        retrying.call(new Attempt(client, batch, k));
    }

    @Override
    public Statistics statistics() {
        var counts = new EnumMap<TransientError, Long>(TransientError.class);
        faults.forEach((fault, count) -> counts.put(fault, count.sum()));
        return new Statistics(counts, retries.sum());
    }

    @Override
    public void close() throws SQLException {
        if (keys != null) {
            keys.close();
        }
    }

    /** Makes one attempt of a call each time it is run. */
    private final class Attempt implements Callable<Void> {
        private final Client client;
        private final long batch;
        private final long k;
        private boolean isRetry;

        Attempt(Client client, long batch, long k) {
            this.client = client;
            this.batch = batch;
            this.k = k;
        }

        @Override
        public Void call() throws SQLException, IOException {
            if (isRetry) {
                retries.increment();
            }
            isRetry = true;
            try {
                transact();
            } catch (Exception failure) {
                TransientError.of(failure).ifPresent(fault -> faults.get(fault).increment());
                throw failure;
            }
            return null;
        }

        private void transact() throws SQLException, IOException {
            if (client.service() != null) {
                client.service().request(batch, k, null);
                return;
            }
            Connection connection = client.connection();
            try {
                if (keys == null || keys.take(connection, keys.key(batch, k))) {
                    client.work(connection, k);
                }
                connection.commit();
            } catch (Exception failure) {
                try {
                    client.rollBack();
                } catch (SQLException e) {
                    failure.addSuppressed(e);
                }
                throw failure;
            }
        }
    }
}
