// SPDX-License-Identifier: Apache-2.0
// Tests which methods of a service are retried, and which exceptions it throws.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.resilience.Backoff;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RetryProxyTest {

    interface Orders {
        int place() throws IOException;

        @Retried
        int cancel();

        int find();

        @Retried("patient")
        int archive();
    }

    private static class Counted {
        int runs;

        int failUntil(int successful) {
            if (++runs < successful) {
                throw new StaleVersionException();
            }
            return runs;
        }
    }

    private static final class Shop extends Counted implements Orders {
        private IOException failure;

        @Override
        @Retried
        public int place() throws IOException {
            if (failure != null) {
                throw failure;
            }
            return failUntil(2);
        }

        @Override
        public int cancel() {
            return failUntil(2);
        }

        @Override
        public int find() {
            return failUntil(2);
        }

        @Override
        @Retried
        public int archive() {
            return failUntil(3);
        }
    }

    @Retried("patient")
    private static final class MarkedShop extends Counted implements Orders {
        @Override
        public int place() {
            return failUntil(3);
        }

        @Override
        public int cancel() {
            return failUntil(3);
        }

        @Override
        public int find() {
            return failUntil(3);
        }

        @Override
        @Retried
        public int archive() {
            return failUntil(3);
        }
    }

    private static Policy attempts(int count) {
        return Policy.ofAttempts(count).backoff(Fault.STALE_VERSION, Backoff.NONE);
    }

    private final Map<String, Policy> policies = Map.of("", attempts(2), "patient", attempts(3));
    private final Shop shop = new Shop();
    private final Orders orders = RetryProxy.of(Orders.class, shop, policies);

    @Test
    void aMarkOfTheClassOrTheInterfaceIsFollowed() throws Exception {
        assertEquals(2, orders.place());
        shop.runs = 0;
        assertEquals(2, orders.cancel());
    }

    @Test
    void whatIsNotMarkedIsRunOnce() {
        assertThrows(StaleVersionException.class, orders::find);
        assertEquals(1, shop.runs);
    }

    @Test
    void theClassGoesBeforeTheInterface() {
        assertThrows(StaleVersionException.class, orders::archive);
        assertEquals(2, shop.runs);
    }

    @Test
    void aMarkedTypeMarksItsMethods() throws Exception {
        var target = new MarkedShop();
        Orders marked = RetryProxy.of(Orders.class, target, policies);
        assertEquals(3, marked.place());
        target.runs = 0;
        assertEquals(3, marked.cancel());
        target.runs = 0;
        assertThrows(StaleVersionException.class, marked::archive);
    }

    @Test
    void exceptionsComeAsTheyAre() {
        shop.failure = new IOException();
        assertSame(shop.failure, assertThrows(IOException.class, orders::place));
    }

    /**
     * Checks that a lost connection is classified as an unknown outcome, because the work may have
     * been committed.
     */
    @Test
    void aLostConnectionIsAnUnknownOutcome() {
        shop.failure = new IOException(new SQLException("lost", "08006"));
        var unknown = assertThrows(OutcomeUnknownException.class, orders::place);
        assertSame(shop.failure, unknown.getCause());
    }

    @Test
    void otherMethodsAreTheTargets() {
        assertEquals(shop.toString(), orders.toString());
        assertEquals(shop.hashCode(), orders.hashCode());
    }

    @Test
    void aServiceEqualsItself() {
        Orders same = RetryProxy.of(Orders.class, shop, policies);
        Orders other = RetryProxy.of(Orders.class, new Shop(), policies);
        var services = new ArrayList<>(List.of(orders));
        assertTrue(services.contains(same));
        assertFalse(services.contains(other));
        assertFalse(services.contains(null));
        assertTrue(services.remove(orders));
    }

    @Test
    void aPolicyThatIsMissingIsFoundAtOnce() {
        Exception thrown =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> RetryProxy.of(Orders.class, new MarkedShop(), attempts(2)));
        assertEquals(true, thrown.getMessage().contains("\"patient\""), thrown.getMessage());
    }
}
