// SPDX-License-Identifier: Apache-2.0
// benchlab.appserver.retry, with an idempotency key for each call.
package benchlab.retry;

import benchlab.appserver.retry.Fault;
import benchlab.appserver.retry.IdempotencyTable;
import benchlab.appserver.retry.Policy;
import benchlab.appserver.retry.Retry;
import benchlab.appserver.retry.RetryFigures;
import benchlab.appserver.retry.RetryMeter;
import benchlab.sql.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.UUID;

/** The library makes the transactions; the table of its keys is there while a case is open. */
final class KeyedVariant implements Variant {

    private static final int ATTEMPTS = 5;
    private static final String TABLE = "retry_key";
    private static final String CREATE =
            """
            CREATE TABLE IF NOT EXISTS %s (
                id %s PRIMARY KEY,
                result text,
                created timestamp DEFAULT CURRENT_TIMESTAMP)""";

    private final Database database;
    private final RetryMeter meter = new RetryMeter();
    private final Policy policy = Policy.ofAttempts(ATTEMPTS).meter(meter);
    private final IdempotencyTable keys = new IdempotencyTable(TABLE);
    private final String opening = UUID.randomUUID().toString();

    /** @param keyType of the column with the keys: {@link IdempotencyTable} */
    KeyedVariant(Database database, String keyType) throws SQLException {
        this.database = database;
        execute(CREATE.formatted(TABLE, keyType));
    }

    @Override
    public void call(Client client, long batch, long k) throws SQLException {
        Retry.call(
                policy,
                client.transactions(),
                keys.key(opening + "/" + batch + "/" + k),
                connection -> {
                    client.work(connection, k);
                    return null;
                });
    }

    @Override
    public Figures figures() {
        RetryFigures figures = meter.figures();
        var faults = new EnumMap<PassingFault, Long>(PassingFault.class);
        for (var counted : figures.faults().entrySet()) {
            PassingFault.of(counted.getKey())
                    .ifPresent(fault -> faults.merge(fault, counted.getValue(), Long::sum));
        }
        return new Figures(faults, figures.retries());
    }

    /** So that the next one finds no keys. */
    @Override
    public void close() throws SQLException {
        execute("DROP TABLE " + TABLE);
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate(sql);
        }
    }
}
