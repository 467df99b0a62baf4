// SPDX-License-Identifier: Apache-2.0
// Services whose methods are retried, without a container.
package benchlab.appserver.retry;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;

/**
 * Makes services whose methods are retried where {@link Retried} says so. Each such method is one
 * transaction, which it begins and ends itself ({@link Retry#call(Policy, Work)}).
 */
public final class RetryProxy {

    private RetryProxy() {}

    /** The same with one policy, for {@code @Retried} without a name. */
    public static <S> S of(Class<S> service, S target, Policy policy) {
        return of(service, target, Map.of("", policy));
    }

    /**
     * A service that calls a target. It throws what the target throws, or an {@link
     * OutcomeUnknownException} with that as its cause.
     *
     * @param service an interface
     * @param policies by the names that {@code @Retried} gives
     * @throws IllegalArgumentException if a policy that is named is not among these, or {@code
     *     service} is not an interface
     */
    public static <S> S of(Class<S> service, S target, Map<String, Policy> policies) {
        Map<Method, Policy> retried = new HashMap<>();
        for (Method method : service.getMethods()) {
            Retried mark = markOf(method, target.getClass());
            if (mark != null) {
                Policy policy = policies.get(mark.value());
                if (policy == null) {
                    throw new IllegalArgumentException(
                            "no policy \"" + mark.value() + "\" for " + method);
                }
                retried.put(method, policy);
            }
        }
        InvocationHandler handler =
                (proxy, method, arguments) -> {
                    Policy policy = retried.get(method);
                    return policy == null
                            ? invoke(target, method, arguments)
                            : Retry.call(policy, () -> invoke(target, method, arguments));
                };
        return service.cast(
                Proxy.newProxyInstance(
                        service.getClassLoader(), new Class<?>[] {service}, handler));
    }

    /** The mark that applies to a method of a target; null if it is not retried. */
    static Retried markOf(Method method, Class<?> target) {
        Retried mark = null;
        for (Class<?> type = target; type != null && mark == null; type = type.getSuperclass()) {
            mark = markIn(type, method);
        }
        if (mark == null) {
            mark = method.getAnnotation(Retried.class);
        }
        return mark != null ? mark : method.getDeclaringClass().getAnnotation(Retried.class);
    }

    /** The mark of a method that the class declares, or of the class; null if it declares none. */
    private static Retried markIn(Class<?> type, Method method) {
        try {
            Method declared = type.getDeclaredMethod(method.getName(), method.getParameterTypes());
            Retried mark = declared.getAnnotation(Retried.class);
            return mark != null ? mark : type.getAnnotation(Retried.class);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    private static Object invoke(Object target, Method method, Object[] arguments)
            throws Exception {
        method.trySetAccessible(); // The interface may be private to its package.
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw (Error) e.getCause();
        }
    }
}
