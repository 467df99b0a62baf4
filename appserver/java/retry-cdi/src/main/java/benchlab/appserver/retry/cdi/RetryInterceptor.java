// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry.cdi;

import benchlab.appserver.retry.IdempotencyKey;
import benchlab.appserver.retry.OutcomeUnknownException;
import benchlab.appserver.retry.Policies;
import benchlab.appserver.retry.Policy;
import benchlab.appserver.retry.Retried;
import benchlab.appserver.retry.Retry;
import benchlab.appserver.retry.RetryScope;
import benchlab.appserver.resilience.Work;
import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import java.lang.reflect.Method;

/**
 * Retries the methods of CDI and EJB beans that are marked as {@link Retried}, as {@link
 * Retry#call(Policy, Work)} does. The application provides a bean of type {@link Policies}.
 *
 * <ul>
 *   <li>The interceptor runs outside of {@code @Transactional}, so each attempt has its own
 *       transaction and a failed commit is retried.
 *   <li>A call within an open transaction is rejected with an {@link IllegalStateException},
 *       because only the code that began the transaction can retry it. The same applies to an EJB
 *       method for which the container begins a transaction, because the container does so before
 *       it calls the interceptors. Call such an EJB from a marked method of a CDI bean, or of an
 *       EJB with {@code SUPPORTS}. An EJB with bean-managed transactions may be marked itself.
 *   <li>A marked method that is called within a retried call runs once, in the current transaction,
 *       if any. A transient error of the method marks this transaction for rollback, whatever the
 *       type of the exception. A connection that is lost there is known to have committed nothing.
 *   <li>An attempt that leaves a transaction open causes an {@link IllegalStateException}.
 *   <li>A connection that is lost during the commit causes an {@link OutcomeUnknownException} whose
 *       cause is the container's exception, such as a {@code RollbackException}, although the work
 *       may have been committed. The call is retried only if the policy is repeatable, as with
 *       {@link IdempotencyKey#once}.
 * </ul>
 */
@Retried
@Interceptor
@Priority(RetryInterceptor.PRIORITY)
public class RetryInterceptor {

    /**
     * The priority: before the interceptor of {@code @Transactional}, which has {@code
     * PLATFORM_BEFORE + 200}.
     */
    public static final int PRIORITY = Interceptor.Priority.PLATFORM_BEFORE + 100;

    @Inject private RetryContainer container;

    /** Creates the interceptor. Called by the container. */
    public RetryInterceptor() {}

    /**
     * Calls the method, and retries it.
     *
     * @param context the call
     * @return the result of the method
     * @throws Exception the exception of the last attempt
     */
    @AroundInvoke
    public Object retry(InvocationContext context) throws Exception {
        if (RetryScope.isActive()) {
            return context.proceed();
        }
        Method method = context.getMethod();
        if (container.isInTransaction()) {
            throw new IllegalStateException(
                    "@Retried "
                            + method
                            + " is called in a transaction that is already open, so a failed commit"
                            + " could not be retried. Mark the method that begins"
                            + " the transaction; if the container begins it for an EJB, call that"
                            + " EJB from a marked method of a CDI bean, or of an EJB with"
                            + " TransactionAttributeType.SUPPORTS");
        }
        Policy policy = container.policy(method, context.getTarget().getClass());
        Object[] parameters = context.getParameters().clone();
        return Retry.call(
                policy,
                () -> {
                    context.setParameters(parameters.clone()); // Interceptors may have changed them.
                    return attempt(context);
                });
    }

    private Object attempt(InvocationContext context) throws Exception {
        try {
            return context.proceed();
        } catch (Exception failure) {
            if (container.isInTransaction()) {
                // Not as the cause, which might be a fault that is retried.
                String message = context.getMethod() + " left a transaction open";
                var misuse = new IllegalStateException(message);
                misuse.addSuppressed(failure);
                throw misuse;
            }
            throw failure;
        }
    }
}
