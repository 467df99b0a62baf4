// SPDX-License-Identifier: Apache-2.0
// Tests the example: an order whose response is lost takes effect once.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class RetryExampleTest {

    @Test
    void ordersOnceAndKeepsVersions() throws Exception {
        try (var database = new TestDatabase.Sqlite()) {
            database.execute("CREATE TABLE retry_key (id text PRIMARY KEY, result text)");
            database.execute("CREATE TABLE ordered (article integer, count integer)");
            database.execute("CREATE TABLE article (id integer, price integer, version integer)");
            database.execute("INSERT INTO article VALUES (7, 100, 1)");
            var injector = new FaultInjector(database::connect);
            var shop = new RetryExample(injector);

            injector.afterNextCommit(
                    () -> {
                        throw new SQLException("the response was lost", "08006");
                    });
            assertEquals(1, shop.order("order 1", 7, 3));
            assertEquals(3, database.number("SELECT sum(count) FROM ordered"));

            shop.changePrice(7, 1, 110);
            assertThrows(StaleVersionException.class, () -> shop.changePrice(7, 1, 120));
            assertEquals(110, database.number("SELECT price FROM article"));
            String expected = "appserver_retry_retries_total{policy=\"shop\"} 1\n";
            assertTrue(shop.metrics().contains(expected), shop.metrics());
        }
    }
}
