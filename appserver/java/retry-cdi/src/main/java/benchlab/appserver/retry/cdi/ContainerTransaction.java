// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry.cdi;

import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.transaction.HeuristicMixedException;
import jakarta.transaction.HeuristicRollbackException;
import jakarta.transaction.RollbackException;
import jakarta.transaction.Status;
import jakarta.transaction.SystemException;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Objects;
import java.util.Set;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.transaction.xa.XAException;
import org.jspecify.annotations.Nullable;

/**
 * The calling thread's transaction in Jakarta Transactions, accessed through the registry that a
 * container provides in JNDI (Jakarta EE Platform 11, EE.5.12) or as a bean. If there is no
 * registry, there is no transaction.
 */
final class ContainerTransaction {

    private static final String JNDI_NAME = "java:comp/TransactionSynchronizationRegistry";

    /** The key of the transaction resource that stores the exception of a failed nested call. */
    private static final Object FAULT = new Object();

    private final Instance<Object> beans;
    private volatile @Nullable TransactionSynchronizationRegistry registry;

    ContainerTransaction(Instance<Object> beans) {
        this.beans = beans;
    }

    /**
     * Returns true if a failure may come from the commit of another transaction, which may have taken
     * effect.
     */
    static boolean mayBeOfCommit(Throwable failure) {
        Set<Throwable> visited = Collections.newSetFromMap(new IdentityHashMap<>());
        Throwable cause = failure;
        while (cause != null && visited.add(cause)) {
            if (isOfTransactionManager(cause)) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    private static boolean isOfTransactionManager(Throwable failure) {
        return failure instanceof RollbackException
                || failure instanceof HeuristicMixedException
                || failure instanceof HeuristicRollbackException
                || failure instanceof SystemException
                || failure instanceof XAException;
    }

    boolean isOpen() {
        var found = registry();
        return found != null && found.getTransactionStatus() != Status.STATUS_NO_TRANSACTION;
    }

    /** Marks the transaction for rollback and stores the fault. The transaction must be open. */
    void fail(Exception fault) {
        var current = Objects.requireNonNull(registry());
        current.setRollbackOnly();
        current.putResource(FAULT, fault);
    }

    /** Returns the stored fault, or null if no nested call failed. The transaction must be open. */
    @Nullable Exception fault() {
        return (Exception) Objects.requireNonNull(registry()).getResource(FAULT);
    }

    /**
     * Returns the registry. Looks it up again if there was none, because JNDI only provides a
     * registry to threads of components.
     */
    private @Nullable TransactionSynchronizationRegistry registry() {
        TransactionSynchronizationRegistry current = registry;
        if (current == null) {
            current = find();
            registry = current;
        }
        return current;
    }

    private @Nullable TransactionSynchronizationRegistry find() {
        try {
            return InitialContext.doLookup(JNDI_NAME);
        } catch (NamingException e) { // For example in Java SE.
            var found =
                    beans.select(TransactionSynchronizationRegistry.class, Any.Literal.INSTANCE);
            return found.isResolvable() ? found.get() : null;
        }
    }
}
