// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry.spring;

import benchlab.appserver.retry.Policies;
import benchlab.appserver.retry.Policy;
import benchlab.appserver.retry.Retried;
import benchlab.appserver.retry.Retry;
import benchlab.appserver.retry.RetryProxy;
import benchlab.appserver.retry.RetryScope;
import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Retries marked methods, outside of their transactions. */
final class RetryAdvice implements MethodInterceptor {

    private final ObjectProvider<Policies> policies;
    private final Map<Mark, Policy> found = new ConcurrentHashMap<>();

    private record Mark(Method method, Class<?> target) {}

    RetryAdvice(ObjectProvider<Policies> policies) {
        this.policies = policies;
    }

    @Override
    @SuppressWarnings("NullAway") // It does not infer that the type of this result is nullable.
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        if (RetryScope.isActive()) {
            return invocation.proceed();
        }
        Method method = invocation.getMethod();
        if (TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new IllegalStateException(
                    "@Retried "
                            + method
                            + " is called in a transaction that is already open, so a failed commit"
                            + " could not be retried. Mark the method that begins the"
                            + " transaction; if the order of the transaction advice is set, it must"
                            + " be higher than EnableRetries.ORDER");
        }
        Object target = invocation.getThis();
        Class<?> type = target == null ? method.getDeclaringClass() : AopUtils.getTargetClass(target);
        Policy policy = found.computeIfAbsent(new Mark(method, type), this::find);
        return Retry.call(policy, () -> attempt((ProxyMethodInvocation) invocation));
    }

    /** Runs the method once: an invocation can proceed only once. */
    private static @Nullable Object attempt(ProxyMethodInvocation invocation) throws Exception {
        try {
            return invocation.invocableClone().proceed();
        } catch (Exception | Error failure) {
            throw failure;
        } catch (Throwable failure) {
            throw new UndeclaredThrowableException(failure);
        }
    }

    private Policy find(Mark marked) {
        Retried mark = RetryProxy.markOf(marked.method, marked.target);
        String name = mark == null ? "" : mark.value();
        Policy policy = policies.getObject().named(name);
        if (policy == null) {
            throw new IllegalStateException(
                    "no policy \""
                            + name
                            + "\" for "
                            + marked.method
                            + "; add it to the application's Policies bean");
        }
        return policy;
    }
}
