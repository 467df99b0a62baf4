// SPDX-License-Identifier: Apache-2.0
// Runs the database tests on MariaDB, and tests an outdated snapshot.
package benchlab.appserver.retry;

import static benchlab.appserver.retry.TestDatabase.number;
import static benchlab.appserver.retry.TestDatabase.update;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

@EnabledIfEnvironmentVariable(named = TestDatabase.MariaDb.VARIABLE, matches = ".+")
class MariaDbTest extends ServerTest {

    @Override
    TestDatabase open() throws SQLException {
        return new TestDatabase.MariaDb();
    }

    @Override
    List<String> keyStatements() {
        return List.of("/*client");
    }

    @Test
    void aSnapshotThatIsOldIsReadAgain() throws Exception {
        assumeTrue(
                database.number(
                                "SELECT count(*) FROM information_schema.system_variables"
                                        + " WHERE variable_name = 'innodb_snapshot_isolation'")
                        == 1);
        AtomicInteger runs = new AtomicInteger();
        Retry.call(
                policy,
                transactions,
                connection -> {
                    update(connection, "SET SESSION innodb_snapshot_isolation = ON");
                    long read = number(connection, "SELECT balance FROM account WHERE id = 1");
                    if (runs.incrementAndGet() == 1) {
                        database.execute("UPDATE account SET balance = 200 WHERE id = 1");
                    }
                    return update(
                            connection,
                            "UPDATE account SET balance = " + (read + 1) + " WHERE id = 1");
                });
        assertEquals(201, balance(1));
        assertEquals(1, faults(Fault.SERIALIZATION_FAILURE));
    }
}
