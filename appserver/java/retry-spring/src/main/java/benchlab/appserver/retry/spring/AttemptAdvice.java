// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry.spring;

import benchlab.appserver.retry.Fault;
import benchlab.appserver.retry.Faults;
import benchlab.appserver.retry.RetryScope;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Runs inside of {@code @Transactional} and keeps it from committing after a transient error. Spring
 * commits after a checked exception, so retried work would take effect twice.
 */
final class AttemptAdvice implements MethodInterceptor {

    /** The fault of a nested call, which belongs to the transaction that is open. */
    private record FailedPart(Exception fault) implements TransactionSynchronization {}

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        if (!RetryScope.isActive() || !TransactionSynchronizationManager.isActualTransactionActive()) {
            return invocation.proceed();
        }
        try {
            Object result = invocation.proceed();
            Exception fault = faultOfPart();
            if (fault != null) {
                throw new IllegalStateException("a nested call in this transaction failed", fault);
            }
            return result;
        } catch (Exception failure) {
            if (Faults.of(failure) != Fault.PERMANENT && setRollbackOnly()) {
                TransactionSynchronizationManager.registerSynchronization(new FailedPart(failure));
                RetryScope.noteUncommitted(failure);
            }
            throw failure;
        }
    }

    /**
     * Marks the transaction for rollback. Returns false if {@code @Transactional} did not begin it.
     */
    private static boolean setRollbackOnly() {
        try {
            TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
            return true;
        } catch (NoTransactionException e) {
            return false;
        }
    }

    private static @Nullable Exception faultOfPart() {
        for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
            if (each instanceof FailedPart failed) {
                return failed.fault;
            }
        }
        return null;
    }
}
