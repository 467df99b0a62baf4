// SPDX-License-Identifier: Apache-2.0
// The CDI example of the README.
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
    private final IdempotencyTable keys = new IdempotencyTable("retry_key");

    @Inject DataSource database;

    @Produces
    @ApplicationScoped
    static Policies policies() {
        Policy usual = Policy.ofAttempts(5);
        return Policies.of(
                Map.of("", usual, "keyed", usual.repeatable(true), "once", Policy.ofAttempts(1)));
    }

    /** Each attempt is a separate transaction. */
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

    /** Takes effect once, even if the response to its COMMIT is lost. */
    @Retried("keyed")
    @Transactional
    public long addOnce(String request, int account, long amount) throws SQLException {
        var key = keys.key(request, Object::toString, Long::valueOf);
        try (var connection = database.getConnection()) {
            return key.once(
                    connection,
                    taken -> {
                        add(account, amount);
                        return amount;
                    });
        }
    }
}
