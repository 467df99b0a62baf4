// SPDX-License-Identifier: Apache-2.0
// A bean whose methods run the steps of a test.
package benchlab.appserver.retry;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.transaction.Transactional;
import java.sql.SQLException;
import javax.sql.DataSource;

@ApplicationScoped
class Ledger {
    @Inject DataSource database;

    @FunctionalInterface
    interface Step {
        void run() throws Exception;
    }

    /** Adds to the account, and then runs the step. */
    @Retried
    @Transactional
    public void add(long amount, Step step) throws Exception {
        execute("UPDATE account SET balance = balance + " + amount);
        step.run();
    }

    @Retried
    @Transactional(Transactional.TxType.REQUIRES_NEW)
    public void addSeparately(long amount, Step step) throws Exception {
        execute("UPDATE account SET balance = balance + " + amount);
        step.run();
    }

    @Retried
    public void withoutTransaction(Step step) throws Exception {
        step.run();
    }

    @Retried("missing")
    public void withMissingPolicy(Step step) throws Exception {
        step.run();
    }

    void execute(String sql) throws SQLException {
        try (var connection = database.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
