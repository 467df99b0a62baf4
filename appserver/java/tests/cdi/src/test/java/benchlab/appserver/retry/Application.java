// SPDX-License-Identifier: Apache-2.0
// An application in Weld, with transactions by Narayana and a private database.
package benchlab.appserver.retry;

import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.narayana.NarayanaTransactionIntegration;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.SQLException;
import javax.sql.DataSource;

final class Application implements AutoCloseable {
    final TestDatabase database = new TestDatabase.Sqlite();
    final FaultInjector injector = new FaultInjector(database::connect);
    final SeContainer container;

    @ApplicationScoped
    static class Pool {
        @Produces
        @ApplicationScoped
        static DataSource open(
                TransactionManager manager, TransactionSynchronizationRegistry registry)
                throws SQLException {
            var options =
                    new AgroalDataSourceConfigurationSupplier()
                            .connectionPoolConfiguration(pool -> pool.maxSize(4));
            options.connectionPoolConfiguration()
                    .transactionIntegration(new NarayanaTransactionIntegration(manager, registry))
                    .connectionFactoryConfiguration()
                    .jdbcUrl(InterleavedDriver.URL)
                    .connectionProviderClass(InterleavedDriver.class);
            return AgroalDataSource.from(options);
        }

        static void close(@Disposes DataSource pool) {
            ((AgroalDataSource) pool).close();
        }
    }

    /** Creates an application with one account, whose ID is 1 and whose balance is 0. */
    Application(Class<?>... alternatives) throws SQLException {
        database.execute("CREATE TABLE account (id integer PRIMARY KEY, balance integer NOT NULL)");
        database.execute("INSERT INTO account VALUES (1, 0)");
        InterleavedDriver.use(injector);
        container =
                SeContainerInitializer.newInstance().selectAlternatives(alternatives).initialize();
    }

    <T> T bean(Class<T> type) {
        return container.select(type).get();
    }

    long balance() throws SQLException {
        return database.number("SELECT balance FROM account");
    }

    @Override
    public void close() throws SQLException {
        container.close();
        database.close();
    }
}
