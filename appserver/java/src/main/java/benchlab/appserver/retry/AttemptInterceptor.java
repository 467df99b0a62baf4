// SPDX-License-Identifier: Apache-2.0
// What a failed attempt does to the container's transaction.
package benchlab.appserver.retry;

import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;

/**
 * Inside of {@code @Transactional}: keeps a transient error from being committed. Jakarta
 * Transactions and EJB commit after a checked exception, so that what is retried would take effect
 * twice; after one that is caught they may roll back and tell nobody.
 */
@Retried
@Interceptor
@Priority(AttemptInterceptor.PRIORITY)
public class AttemptInterceptor {

    /** After that of {@code @Transactional}, and before those of libraries and applications. */
    static final int PRIORITY = Interceptor.Priority.PLATFORM_BEFORE + 300;

    @Inject private RetryContainer container;

    /** Calls the method once. */
    @AroundInvoke
    public Object attempt(InvocationContext context) throws Exception {
        if (!RetriedCall.isUnderWay() || !container.isInTransaction()) {
            return context.proceed();
        }
        try {
            Object result = context.proceed();
            Exception fault = faultOfPart();
            if (fault != null) {
                throw new IllegalStateException("a part of the transaction failed", fault);
            }
            return result;
        } catch (Exception failure) {
            if (container.isInTransaction() && Faults.of(failure) != Fault.PERMANENT) {
                container.transaction().fail(failure);
                RetriedCall.noteUncommitted(failure);
            }
            throw failure;
        }
    }

    private Exception faultOfPart() {
        return container.isInTransaction() ? container.transaction().fault() : null;
    }
}
