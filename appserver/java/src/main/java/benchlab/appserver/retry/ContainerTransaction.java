// SPDX-License-Identifier: Apache-2.0
// The transaction that a container has begun.
package benchlab.appserver.retry;

import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.transaction.Status;
import jakarta.transaction.TransactionSynchronizationRegistry;
import javax.naming.InitialContext;
import javax.naming.NamingException;

/**
 * The transaction of the calling thread in Jakarta Transactions, by the registry that a container
 * has in JNDI (Jakarta EE Platform 11, EE.5.12), or that is a bean. Without one there is none.
 */
final class ContainerTransaction {

    private static final String JNDI_NAME = "java:comp/TransactionSynchronizationRegistry";

    /** Key of the transaction's resource that holds the fault of a part. */
    private static final Object FAULT = new Object();

    private final Instance<Object> beans;
    private volatile TransactionSynchronizationRegistry registry;

    ContainerTransaction(Instance<Object> beans) {
        this.beans = beans;
    }

    boolean isOpen() {
        var found = registry();
        return found != null && found.getTransactionStatus() != Status.STATUS_NO_TRANSACTION;
    }

    /** To be called while it is open. */
    void fail(Exception fault) {
        registry().setRollbackOnly();
        registry().putResource(FAULT, fault);
    }

    /** The exception that it failed with; null if it did not. To be called while it is open. */
    Exception fault() {
        return (Exception) registry().getResource(FAULT);
    }

    /** Looks again if there was none: JNDI has a registry only for threads of components. */
    private TransactionSynchronizationRegistry registry() {
        TransactionSynchronizationRegistry current = registry;
        if (current == null) {
            current = find();
            registry = current;
        }
        return current;
    }

    private TransactionSynchronizationRegistry find() {
        try {
            return InitialContext.doLookup(JNDI_NAME);
        } catch (NamingException e) { // As in Java SE.
            var found =
                    beans.select(TransactionSynchronizationRegistry.class, Any.Literal.INSTANCE);
            return found.isResolvable() ? found.get() : null;
        }
    }
}
