// SPDX-License-Identifier: Apache-2.0
// What only servers have: sessions that end, and locks on rows.
package benchlab.appserver.retry;

import static benchlab.appserver.retry.TestDatabase.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import benchlab.appserver.Stress;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

abstract class ServerTest extends DatabaseTest {

    @Test
    void aSessionThatEndsBeforeTheCommitIsUnknown() throws Exception {
        assertThrows(
                OutcomeUnknownException.class,
                () -> Retry.call(policy, transactions, this::addAndEndSession));
        assertEquals(100, balance(1));
        assertEquals(1, faults(Fault.OUTCOME_UNKNOWN));
        assertEquals(
                "1",
                Retry.call(policy, transactions, KEYS.key("order"), this::addAndEndSession));
        assertEquals(101, balance(1));
    }

    private String addAndEndSession(Connection connection) throws SQLException {
        add(connection, 1, 1);
        if (meter.figures().retries() == 0) {
            long id = number(connection, database.sessionQuery());
            interleaver.beforeNextCommit(() -> database.execute(database.endSession(id)));
        }
        return "1";
    }

    @Test
    void aSessionThatEndsInTheWorkIsRetried() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Retry.call(
                policy,
                transactions,
                connection -> {
                    if (runs.incrementAndGet() == 1) {
                        long id = number(connection, database.sessionQuery());
                        database.execute(database.endSession(id));
                    }
                    add(connection, 1, 1);
                    return runs;
                });
        assertEquals(2, runs.get());
        assertEquals(101, balance(1));
        assertEquals(1, faults(Fault.CONNECTION_LOST));
    }

    @Test
    void aDeadlockIsRetried() throws Exception {
        var bothHoldOne = new CyclicBarrier(2);
        Callable<Void> there = () -> transfer(bothHoldOne, 1, 2);
        Callable<Void> back = () -> transfer(bothHoldOne, 2, 1);
        Stress.together(List.of(there, back));
        assertEquals(100, balance(1));
        assertEquals(100, balance(2));
        assertEquals(1, faults(Fault.DEADLOCK));
        assertEquals(2, meter.figures().calls());
    }

    private Void transfer(CyclicBarrier bothHoldOne, int from, int to) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        return Retry.call(
                policy,
                transactions,
                connection -> {
                    add(connection, from, -1);
                    if (runs.incrementAndGet() == 1) {
                        await(bothHoldOne);
                    }
                    add(connection, to, 1);
                    return null;
                });
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(20, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aLockThatIsNotFreeIsWaitedForAgain() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        try (Connection holder = database.connect()) {
            holder.setAutoCommit(false);
            add(holder, 1, 10);
            Retry.call(
                    policy,
                    transactions,
                    connection -> {
                        if (runs.incrementAndGet() == 2) {
                            holder.commit();
                        }
                        number(connection,
                                "SELECT balance FROM account WHERE id = 1 FOR UPDATE NOWAIT");
                        add(connection, 1, 1);
                        return null;
                    });
        }
        assertEquals(111, balance(1));
        assertEquals(1, faults(Fault.LOCK_TIMEOUT));
    }
}
