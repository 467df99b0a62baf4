// SPDX-License-Identifier: Apache-2.0
// Beans that call an EJB.
package benchlab.appserver.retry;

import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.ejb.TransactionManagement;
import jakarta.ejb.TransactionManagementType;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.transaction.UserTransaction;
import java.util.Map;

public class Callers {

    @ApplicationScoped
    public static class OfCdi {
        @Produces
        @ApplicationScoped
        public Policies policies() {
            Policy usual = Policy.ofAttempts(5);
            return Policies.of(Map.of("", usual, "keyed", usual.repeatable(true)));
        }

        @Retried
        public void call(Ledger.Step step) throws Exception {
            step.run();
        }

        @Retried("keyed")
        public void callKeyed(Ledger.Step step) throws Exception {
            step.run();
        }
    }

    @Stateless
    public static class Supporting {
        @Retried
        @TransactionAttribute(TransactionAttributeType.SUPPORTS)
        public void call(Ledger.Step step) throws Exception {
            step.run();
        }

        /** Has a transaction, but no annotation. */
        public void unmarked(Ledger.Step step) throws Exception {
            step.run();
        }
    }

    @Stateless
    @TransactionManagement(TransactionManagementType.BEAN)
    public static class BeanManaged {
        @Resource private UserTransaction transaction;

        @Retried
        public void call(Ledger.Step step) throws Exception {
            transaction.begin();
            try {
                step.run();
                transaction.commit();
            } catch (Exception failure) {
                transaction.rollback();
                throw failure;
            }
        }

        @Retried
        public void leaveOpen(Ledger.Step step) throws Exception {
            transaction.begin();
            step.run();
        }
    }
}
