// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience.microprofile;

import jakarta.annotation.Priority;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import org.jspecify.annotations.Nullable;

/**
 * Applies {@code @Retry}, {@code @CircuitBreaker}, {@code @Bulkhead}, {@code @Timeout} and {@code
 * @Fallback} of MicroProfile Fault Tolerance 4.1 to the methods of CDI beans. The interceptor is
 * enabled if its artifact is on the class path. Differences from the specification:
 *
 * <ul>
 *   <li><b>Calls do not take effect twice.</b> {@code @Retry} does not repeat a call whose outcome
 *       is unknown, unless it is {@link Idempotent}, or {@code retryOn} names a type of the
 *       exception other than {@link Exception}, {@link RuntimeException} and {@link Throwable}. The
 *       outcome is unknown after a {@code TimeoutException}, after an {@link java.io.IOException}
 *       on an established connection, and after the loss of a database connection, also if such an
 *       exception is only the cause of another one.
 *   <li>An {@link InterruptedException} ends the retries.
 *   <li>{@code @Asynchronous} is rejected when the application is deployed.
 *   <li>MicroProfile Config and Metrics are not used: only the annotations determine the values.
 * </ul>
 *
 * <p>As the specification requires, the interceptor runs inside of {@code @Transactional}. Database
 * transactions should use {@code @Retried} of {@code appserver-retry-cdi}, which also retries a
 * failed commit.
 */
@Guarded
@Interceptor
@Priority(Interceptor.Priority.PLATFORM_AFTER + 10)
public class FaultToleranceInterceptor {

    @Inject private FaultToleranceExtension extension;
    @Inject private BeanManager beans;

    /** Creates the interceptor. Called by the container. */
    @SuppressWarnings("NullAway.Init")
    public FaultToleranceInterceptor() {}

    /**
     * Calls the method in its guards.
     *
     * @param context the call
     * @return the result of the method, or of its fallback
     * @throws Exception the exception of the last attempt
     */
    @AroundInvoke
    public @Nullable Object guard(InvocationContext context) throws Exception {
        MethodGuard guard = extension.guard(context.getMethod(), context.getTarget().getClass());
        return guard == null ? context.proceed() : guard.call(context, beans);
    }
}
