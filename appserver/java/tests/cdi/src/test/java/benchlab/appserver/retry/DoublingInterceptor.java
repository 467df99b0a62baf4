// SPDX-License-Identifier: Apache-2.0
// An interceptor that changes parameters.
package benchlab.appserver.retry;

import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InterceptorBinding;
import jakarta.interceptor.InvocationContext;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

@DoublingInterceptor.Doubling
@Interceptor
@Priority(Interceptor.Priority.APPLICATION)
class DoublingInterceptor {

    @InterceptorBinding
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.METHOD, ElementType.TYPE})
    @interface Doubling {}

    @ApplicationScoped
    static class Doubled {
        @Inject Ledger ledger;

        @Retried
        @Doubling
        public void add(long amount, Ledger.Step step) throws Exception {
            ledger.add(amount, step);
        }
    }

    @AroundInvoke
    Object doubled(InvocationContext context) throws Exception {
        Object[] parameters = context.getParameters();
        parameters[0] = (long) parameters[0] * 2;
        context.setParameters(parameters);
        return context.proceed();
    }
}
