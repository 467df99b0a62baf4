// SPDX-License-Identifier: Apache-2.0
// Runs the database tests on PostgreSQL, and tests a failure of the commit.
package benchlab.appserver.retry;

import static benchlab.appserver.retry.TestDatabase.number;
import static benchlab.appserver.retry.TestDatabase.update;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

@EnabledIfEnvironmentVariable(named = TestDatabase.Postgresql.VARIABLE, matches = ".+")
class PostgresqlTest extends ServerTest {

    @Override
    TestDatabase open() throws SQLException {
        return new TestDatabase.Postgresql();
    }

    @Override
    List<String> keyStatements() {
        return List.of("INSERT");
    }

    /** A constraint violation at the COMMIT is not mistaken for a duplicate key. */
    @Test
    void aCommitThatIsRefusedIsAFailure() throws Exception {
        database.execute("UPDATE account SET version = id");
        database.execute("ALTER TABLE account ADD UNIQUE (version) DEFERRABLE INITIALLY DEFERRED");
        var failure =
                assertThrows(
                        SQLException.class,
                        () ->
                                Retry.call(
                                        policy,
                                        transactions,
                                        KEYS.key("order 1"),
                                        connection -> {
                                            update(connection, "UPDATE account SET version = 2");
                                            return "done";
                                        }));
        assertEquals("23505", failure.getSQLState());
        assertEquals(1, faults(Fault.PERMANENT));
        assertEquals(0, database.number("SELECT count(*) FROM retry_key"));
    }

    /** Each transaction reads the other's writes: the second one fails at its commit. */
    @Test
    void aSerializationFailureAtTheCommitIsRetried() throws Exception {
        injector.beforeNextCommit(() -> moveSum(database.connect(), 2));
        Retry.call(
                policy,
                new Transactions(
                        () -> {
                            Connection connection = injector.open();
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
