// SPDX-License-Identifier: Apache-2.0
// EJBs whose methods run the steps of a test.
package benchlab.appserver.retry;

import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import java.sql.SQLException;
import javax.sql.DataSource;

@Stateless
public class Ledger {
    private static final IdempotencyTable KEYS = new IdempotencyTable("retry_key");

    @Resource private DataSource database;

    @FunctionalInterface
    interface Step {
        void run() throws Exception;
    }

    /** Adds to the account, and then runs the step. */
    @Retried
    public void add(long amount, Step step) throws Exception {
        execute("UPDATE account SET balance = balance + " + amount);
        step.run();
    }

    /** Adds to the account, unless a call with the same key already did. */
    @Retried
    public void addOnce(String key, long amount) throws Exception {
        try (var connection = database.getConnection()) {
            KEYS.key(key)
                    .once(
                            connection,
                            taken -> {
                                execute("UPDATE account SET balance = balance + " + amount);
                                return null;
                            });
        }
    }

    @TransactionAttribute(TransactionAttributeType.MANDATORY)
    public void execute(String sql) throws SQLException {
        try (var connection = database.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
