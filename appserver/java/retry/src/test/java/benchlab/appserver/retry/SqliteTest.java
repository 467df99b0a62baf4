// SPDX-License-Identifier: Apache-2.0
// Runs the database tests on SQLite, and tests its locks.
package benchlab.appserver.retry;

import static benchlab.appserver.retry.TestDatabase.number;
import static benchlab.appserver.retry.TestDatabase.update;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SqliteTest extends DatabaseTest {

    @Override
    TestDatabase open() throws SQLException {
        return new TestDatabase.Sqlite();
    }

    @Override
    List<String> keyStatements() {
        return List.of("INSERT", "UPDATE");
    }

    @Override
    int schedules() {
        return 10_000;
    }

    @Test
    void aCallWithoutEffectHasItsUsualAttempts() {
        var deadlock = new SQLException("deadlock", "40P01");
        assertSame(deadlock, loseAndFail(SQLException.class, deadlock, 3));
    }

    /** Tests a busy commit: in rollback journal mode, a reader keeps the writer from committing. */
    @Test
    void aCommitThatIsBusyIsRetried() throws Exception {
        database.execute("PRAGMA journal_mode = DELETE");
        try (Connection reader = database.connect();
                var query = reader.prepareStatement("SELECT id FROM account");
                var rows = query.executeQuery()) {
            injector.beforeNextCommit(
                    () -> injector.beforeNextCommit(rows::close)); // In the second attempt.
            Retry.call(
                    policy,
                    transactions,
                    connection -> {
                        add(connection, 1, 1);
                        return null;
                    });
        }
        assertEquals(101, balance(1));
        assertEquals(1, faults(Fault.BUSY));
    }

    @Test
    void aSnapshotThatIsOldIsReadAgain() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Retry.call(
                policy,
                transactions,
                connection -> {
                    long read = number(connection, "SELECT balance FROM account WHERE id = 1");
                    if (runs.incrementAndGet() == 1) {
                        database.execute("UPDATE account SET balance = 200 WHERE id = 1");
                    }
                    return update(
                            connection,
                            "UPDATE account SET balance = " + (read + 1) + " WHERE id = 1");
                });
        assertEquals(201, balance(1));
        assertEquals(1, faults(Fault.BUSY));
    }
}
