// SPDX-License-Identifier: Apache-2.0
// Beans whose methods are retried, in a container.
package benchlab.appserver.retry;

import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import java.lang.reflect.Method;

/**
 * Retries the methods of CDI and EJB beans where {@link Retried} says so, as {@link
 * Retry#call(Policy, Work)} does. The application has a bean of type {@link Policies}.
 *
 * <ul>
 *   <li>It is outside of {@code @Transactional}, so that each attempt has a transaction of its own
 *       and a failure of the commit is retried.
 *   <li>A call in a transaction that is open already is refused with an {@link
 *       IllegalStateException}: only who began that can retry it. So is a method of an EJB for
 *       which the container begins a transaction, since it does so before its interceptors. Such an
 *       EJB is called by a marked method of a CDI bean, or of an EJB with {@code SUPPORTS}; one
 *       with bean-managed transactions may be marked itself.
 *   <li>Inside a call that is retried a marked method is run once, in whatever transaction it has.
 *       A fault there that passes marks this transaction for rollback, whatever kind of exception
 *       it is, and a connection that is lost there is known to have committed nothing.
 *   <li>An attempt that leaves a transaction open is an {@link IllegalStateException}.
 *   <li>A connection that is lost during the commit is an {@link OutcomeUnknownException} whose
 *       cause is what the container threw, such as a {@code RollbackException}, though the work may
 *       have been committed. It is retried only if the policy is repeatable, as with {@link
 *       IdempotencyKey#once}.
 * </ul>
 */
@Retried
@Interceptor
@Priority(RetryInterceptor.PRIORITY)
public class RetryInterceptor {

    /** Before that of {@code @Transactional}, which is {@code PLATFORM_BEFORE + 200}. */
    public static final int PRIORITY = Interceptor.Priority.PLATFORM_BEFORE + 100;

    @Inject private RetryContainer container;

    /** Calls the method, and calls it again. */
    @AroundInvoke
    public Object retry(InvocationContext context) throws Exception {
        if (RetriedCall.isUnderWay()) {
            return context.proceed();
        }
        Method method = context.getMethod();
        if (container.isInTransaction()) {
            throw new IllegalStateException(
                    "@Retried "
                            + method
                            + " is called in a transaction that is open already, so that a failure"
                            + " of its commit could not be retried. Mark the method that begins"
                            + " the transaction; if the container begins it for an EJB, call that"
                            + " EJB from a marked method of a CDI bean, or of an EJB with"
                            + " TransactionAttributeType.SUPPORTS");
        }
        Policy policy = container.policy(method, context.getTarget().getClass());
        Object[] parameters = context.getParameters().clone();
        return Retry.call(
                policy,
                () -> {
                    context.setParameters(parameters.clone()); // Others may have changed them.
                    return attempt(context);
                });
    }

    private Object attempt(InvocationContext context) throws Exception {
        try {
            return context.proceed();
        } catch (Exception failure) {
            if (container.isInTransaction()) {
                // Not its cause: that might be a fault that is retried.
                String message = context.getMethod() + " left a transaction open";
                var misuse = new IllegalStateException(message);
                misuse.addSuppressed(failure);
                throw misuse;
            }
            throw failure;
        }
    }
}
