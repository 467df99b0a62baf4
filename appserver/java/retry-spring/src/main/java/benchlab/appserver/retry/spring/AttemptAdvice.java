// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry.spring;

import benchlab.appserver.retry.Fault;
import benchlab.appserver.retry.Faults;
import benchlab.appserver.retry.RetryScope;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Runs inside of {@code @Transactional} and keeps it from committing after a transient error. Spring
 * commits after a checked exception, so retried work would take effect twice.
 */
final class AttemptAdvice implements MethodInterceptor {

    /** The class whose final method {@code commit} the transaction managers of Spring inherit. */
    private static final String TRANSACTION_MANAGER = AbstractPlatformTransactionManager.class.getName();

    /** The fault of a nested call, which belongs to the transaction that is open. */
    private record FailedPart(Exception fault) implements TransactionSynchronization {

        @Override
        public void beforeCommit(boolean isReadOnly) {
            throw failure();
        }

        IllegalStateException failure() {
            return new IllegalStateException("a nested call in this transaction failed", fault);
        }
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        if (!RetryScope.isActive() || !TransactionSynchronizationManager.isActualTransactionActive()) {
            return invocation.proceed();
        }
        try {
            Object result = invocation.proceed();
            FailedPart failed = failedPart();
            if (failed != null) {
                throw failed.failure();
            }
            return result;
        } catch (Exception failure) {
            if (Faults.of(failure) != Fault.PERMANENT) {
                TransactionSynchronizationManager.registerSynchronization(new FailedPart(failure));
                setRollbackOnly(invocation);
                if (!mayBeOfCommit(failure)) {
                    RetryScope.noteUncommitted(failure);
                }
            }
            throw failure;
        }
    }

    /**
     * Marks the transaction for rollback if the method is {@code @Transactional}, so that Spring
     * throws the failure of the method and not that of the commit. Otherwise the method's caller may
     * have begun the transaction in another way, such as with a {@code TransactionTemplate}. Spring
     * then knows only the status of a {@code @Transactional} method further out, whose transaction may
     * be suspended, and {@link FailedPart} prevents the commit.
     */
    private static void setRollbackOnly(MethodInvocation invocation) {
        try {
            TransactionStatus status = TransactionAspectSupport.currentTransactionStatus();
            if (status.getTransactionName().equals(nameOf(invocation))) {
                status.setRollbackOnly();
            }
        } catch (NoTransactionException e) {
            // The transaction was begun in another way.
        }
    }

    /** Returns the name that Spring gives to the transaction of a method. */
    private static String nameOf(MethodInvocation invocation) {
        Object target = invocation.getThis();
        Class<?> type = target == null ? null : AopUtils.getTargetClass(target);
        return ClassUtils.getQualifiedMethodName(invocation.getMethod(), type);
    }

    /**
     * Returns true if a failure may come from the commit of another transaction of the attempt, which
     * may have taken effect. The stack traces decide, because some transaction managers translate
     * the exception of a commit to the type that a failed statement has.
     */
    private static boolean mayBeOfCommit(Throwable failure) {
        Set<Throwable> visited = Collections.newSetFromMap(new IdentityHashMap<>());
        Throwable cause = failure;
        while (cause != null && visited.add(cause)) {
            StackTraceElement[] frames = cause.getStackTrace();
            if (frames.length == 0 || Arrays.stream(frames).anyMatch(AttemptAdvice::isCommit)) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    private static boolean isCommit(StackTraceElement frame) {
        return frame.getMethodName().equals("commit") && frame.getClassName().equals(TRANSACTION_MANAGER);
    }

    private static @Nullable FailedPart failedPart() {
        for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
            if (each instanceof FailedPart failed) {
                return failed;
            }
        }
        return null;
    }
}
