// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import benchlab.appserver.resilience.Work;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Creates services whose {@link Retried} methods are retried, without a container. Each such method
 * is one transaction, which the method begins and commits itself ({@link Retry#call(Policy,
 * Work)}).
 */
public final class RetryProxy {

    private RetryProxy() {}

    /** Calls the target. Two services are equal if their targets are equal. */
    private record Handler(Object target, Map<Method, Policy> retried) implements InvocationHandler {

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) throws Exception {
            if (method.getDeclaringClass() == Object.class && method.getName().equals("equals")) {
                return target.equals(targetOf(arguments[0]));
            }
            Policy policy = retried.get(method);
            return policy == null
                    ? RetryProxy.invoke(target, method, arguments)
                    : Retry.call(policy, () -> RetryProxy.invoke(target, method, arguments));
        }

        /** Returns the target of a service; any other object unchanged. */
        private static @Nullable Object targetOf(@Nullable Object object) {
            return object != null
                            && Proxy.isProxyClass(object.getClass())
                            && Proxy.getInvocationHandler(object) instanceof Handler handler
                    ? handler.target
                    : object;
        }
    }

    /**
     * Creates a service with one policy, for {@code @Retried} without a name.
     *
     * @param service an interface
     * @param target the object to call
     * @param policy the policy
     * @param <S> the type of the service
     * @return the service
     * @throws IllegalArgumentException if {@code @Retried} specifies a name, or {@code service} is
     *     not an interface
     */
    public static <S> S of(Class<S> service, S target, Policy policy) {
        return of(service, target, Map.of("", policy));
    }

    /**
     * Creates a service that calls a target. It throws the exceptions of the target, or an {@link
     * OutcomeUnknownException} with such an exception as its cause.
     *
     * @param service an interface
     * @param target the object to call
     * @param policies the policies by the names in {@code @Retried}
     * @param <S> the type of the service
     * @return the service
     * @throws IllegalArgumentException if a policy is missing, or {@code service} is not an
     *     interface
     */
    public static <S> S of(Class<S> service, S target, Map<String, Policy> policies) {
        Map<Method, Policy> retried = new HashMap<>();
        for (Method method : service.getMethods()) {
            Retried mark = markOf(method, target.getClass());
            if (mark != null) {
                Policy policy = policies.get(mark.value());
                if (policy == null) {
                    throw new IllegalArgumentException(
                            "no policy \""
                                    + mark.value()
                                    + "\" for "
                                    + method
                                    + "; add it to the policies passed to RetryProxy.of");
                }
                retried.put(method, policy);
            }
        }
        return service.cast(
                Proxy.newProxyInstance(
                        service.getClassLoader(),
                        new Class<?>[] {service},
                        new Handler(target, retried)));
    }

    /**
     * Returns the annotation that applies to a method of a target.
     *
     * @param method the method
     * @param target the type of the object that the method is called on
     * @return the annotation, or null if the method is not retried
     */
    public static @Nullable Retried markOf(Method method, Class<?> target) {
        Retried mark = null;
        for (Class<?> type = target; type != null && mark == null; type = type.getSuperclass()) {
            mark = markIn(type, method);
        }
        if (mark == null) {
            mark = method.getAnnotation(Retried.class);
        }
        return mark != null ? mark : method.getDeclaringClass().getAnnotation(Retried.class);
    }

    /**
     * Returns the annotation of a method that the class declares, or of the class; null if there is
     * none.
     */
    private static @Nullable Retried markIn(Class<?> type, Method method) {
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
        method.trySetAccessible(); // The interface may be package-private.
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
