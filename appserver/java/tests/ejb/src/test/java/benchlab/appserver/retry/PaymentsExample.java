// SPDX-License-Identifier: Apache-2.0
// The EJB example of the README.
package benchlab.appserver.retry;

import jakarta.annotation.Resource;
import jakarta.ejb.SessionContext;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import java.sql.SQLException;
import javax.sql.DataSource;

@Stateless
public class PaymentsExample {
    @Resource private SessionContext context;
    @Resource private DataSource database;

    @Retried
    @TransactionAttribute(TransactionAttributeType.SUPPORTS)
    public void pay(int account, long amount) throws SQLException {
        context.getBusinessObject(PaymentsExample.class).payOnce(account, amount);
    }

    /** Each call by {@link #pay} is a transaction. */
    @Retried
    public void payOnce(int account, long amount) throws SQLException {
        try (var connection = database.getConnection();
                var update =
                        connection.prepareStatement(
                                "UPDATE account SET balance = balance + ? WHERE id = ?")) {
            update.setLong(1, amount);
            update.setInt(2, account);
            update.executeUpdate();
        }
    }
}
