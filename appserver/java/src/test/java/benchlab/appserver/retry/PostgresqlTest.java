// SPDX-License-Identifier: Apache-2.0
// The tests on PostgreSQL, and a failure at the commit.
package benchlab.appserver.retry;

import static benchlab.appserver.retry.TestDatabase.number;
import static benchlab.appserver.retry.TestDatabase.update;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

@EnabledIfEnvironmentVariable(named = TestDatabase.Postgresql.VARIABLE, matches = ".+")
class PostgresqlTest extends ServerTest {

    @Override
    TestDatabase open() throws SQLException {
        return new TestDatabase.Postgresql();
    }

    /** Each reads what the other one writes: the second one fails at its commit. */
    @Test
    void aSerializationFailureAtTheCommitIsRetried() throws Exception {
        interleaver.beforeNextCommit(() -> moveSum(database.connect(), 2));
        Retry.call(
                policy,
                new Transactions(
                        () -> {
                            Connection connection = interleaver.open();
                            connection.setTransactionIsolation(
                                    Connection.TRANSACTION_SERIALIZABLE);
                            return connection;
                        }),
                connection -> putSum(connection, 1));
        assertEquals(200, balance(2));
        assertEquals(300, balance(1));
        assertEquals(1, faults(Fault.SERIALIZATION_FAILURE));
    }

    private static void moveSum(Connection other, int account) throws SQLException {
        try (other) {
            other.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            other.setAutoCommit(false);
            putSum(other, account);
            other.commit();
        }
    }

    private static int putSum(Connection connection, int account) throws SQLException {
        long sum = number(connection, "SELECT sum(balance) FROM account");
        return update(
                connection, "UPDATE account SET balance = " + sum + " WHERE id = " + account);
    }
}
