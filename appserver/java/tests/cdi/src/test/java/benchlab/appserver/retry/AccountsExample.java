// SPDX-License-Identifier: Apache-2.0
// The example of the README for CDI.
package benchlab.appserver.retry;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.transaction.Transactional;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;

@ApplicationScoped
class AccountsExample {
    @Inject DataSource database;

    @Produces
    @ApplicationScoped
    static Policies policies() {
        return Policies.of(Map.of("", Policy.ofAttempts(5), "once", Policy.ofAttempts(1)));
    }

    /** Each attempt is a transaction. */
    @Retried
    @Transactional
    public void add(int account, long amount) throws SQLException {
        try (var connection = database.getConnection();
                var update =
                        connection.prepareStatement(
                                "UPDATE account SET balance = balance + ? WHERE id = ?")) {
            update.setLong(1, amount);
            update.setInt(2, account);
            update.executeUpdate();
        }
    }
}
