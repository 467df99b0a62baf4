// SPDX-License-Identifier: Apache-2.0
// The Spring example of the README.
package benchlab.appserver.retry;

import benchlab.appserver.retry.spring.EnableRetries;
import java.util.Map;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

final class ShopExample {

    @Configuration
    @EnableTransactionManagement
    @EnableRetries
    static class ShopConfiguration {
        @Bean
        Policies policies() {
            return Policies.of(Map.of("", Policy.ofAttempts(5)));
        }
    }

    static class Shop {
        private final JdbcTemplate database;

        Shop(JdbcTemplate database) {
            this.database = database;
        }

        /** Each attempt is a separate transaction. */
        @Retried
        @Transactional
        public void add(int account, long amount) {
            database.update("UPDATE account SET balance = balance + ? WHERE id = ?", amount, account);
        }
    }

    private ShopExample() {}
}
