// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry.cdi;

import benchlab.appserver.retry.Fault;
import benchlab.appserver.retry.Faults;
import benchlab.appserver.retry.Retried;
import benchlab.appserver.retry.RetryScope;
import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import org.jspecify.annotations.Nullable;

/**
 * Runs inside of {@code @Transactional} and keeps it from committing after a transient error.
 * Jakarta Transactions and EJB commit after a checked exception, so retried work would take effect
 * twice. If the caller catches an exception, the container may roll back without reporting it.
 */
@Retried
@Interceptor
@Priority(AttemptInterceptor.PRIORITY)
public class AttemptInterceptor {

    /**
     * The priority: after the interceptor of {@code @Transactional}, and before the interceptors of
     * libraries and applications.
     */
    static final int PRIORITY = Interceptor.Priority.PLATFORM_BEFORE + 300;

    @Inject private RetryContainer container;

    /** Creates the interceptor. Called by the container. */
    public AttemptInterceptor() {}

    /**
     * Calls the method once.
     *
     * @param context the call
     * @return the result of the method
     * @throws Exception the exception of the method
     */
    @AroundInvoke
    public Object attempt(InvocationContext context) throws Exception {
        if (!RetryScope.isActive() || !container.isInTransaction()) {
            return context.proceed();
        }
        try {
            Object result = context.proceed();
            Exception fault = faultOfPart();
            if (fault != null) {
                throw new IllegalStateException("a nested call in this transaction failed", fault);
            }
            return result;
        } catch (Exception failure) {
            if (container.isInTransaction() && Faults.of(failure) != Fault.PERMANENT) {
                container.transaction().fail(failure);
                if (!ContainerTransaction.mayBeOfCommit(failure)) {
                    RetryScope.noteUncommitted(failure);
                }
            }
            throw failure;
        }
    }

    private @Nullable Exception faultOfPart() {
        return container.isInTransaction() ? container.transaction().fault() : null;
    }
}
