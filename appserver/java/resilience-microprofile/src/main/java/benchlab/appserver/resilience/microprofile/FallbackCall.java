// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience.microprofile;

import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.Unmanaged;
import jakarta.interceptor.InvocationContext;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Objects;
import org.eclipse.microprofile.faulttolerance.ExecutionContext;
import org.eclipse.microprofile.faulttolerance.Fallback;
import org.eclipse.microprofile.faulttolerance.FallbackHandler;
import org.jspecify.annotations.Nullable;

/** The replacement for a failed call: a handler, or another method of the bean. */
final class FallbackCall {

    private final Class<? extends Throwable>[] applyOn;
    private final Class<? extends Throwable>[] skipOn;
    private final @Nullable Class<? extends FallbackHandler<?>> handler;
    private final @Nullable Method method;

    private record FailedCall(Method method, Object[] parameters, Throwable failure)
            implements ExecutionContext {
        @Override
        public Method getMethod() {
            return method;
        }

        @Override
        public Object[] getParameters() {
            return parameters;
        }

        @Override
        public Throwable getFailure() {
            return failure;
        }
    }

    private FallbackCall(
            Fallback mark,
            @Nullable Class<? extends FallbackHandler<?>> handler,
            @Nullable Method method) {
        applyOn = mark.applyOn();
        skipOn = mark.skipOn();
        this.handler = handler;
        this.method = method;
    }

    static FallbackCall of(Fallback mark, MethodGuard.Marks marks) {
        boolean hasHandler = mark.value() != Fallback.DEFAULT.class;
        boolean hasMethod = !mark.fallbackMethod().isEmpty();
        marks.check(hasHandler != hasMethod, "@Fallback must have either a value or a fallbackMethod");
        if (hasHandler) {
            marks.check(
                    returns(mark.value(), marks.method()),
                    "the return type of the handler is incompatible with that of the method");
            return new FallbackCall(mark, mark.value(), null);
        }
        Method method = find(marks.bean(), mark.fallbackMethod(), marks.method());
        if (method == null) {
            marks.check(false, "no fallback method " + mark.fallbackMethod() + " with the same parameters and result");
        } else {
            method.trySetAccessible();
        }
        return new FallbackCall(mark, null, method);
    }

    /**
     * Returns true if the return type of the handler's {@code handle} method can be assigned to the
     * return type of the guarded method. Ignores bridge methods.
     */
    private static boolean returns(Class<?> handler, Method guarded) {
        return Arrays.stream(handler.getMethods())
                .filter(each -> each.getName().equals("handle") && !each.isBridge())
                .anyMatch(each -> isAssignable(guarded.getReturnType(), each.getReturnType()));
    }

    private static @Nullable Method find(Class<?> bean, String name, Method guarded) {
        for (Class<?> type = bean; type != null; type = type.getSuperclass()) {
            for (Method each : type.getDeclaredMethods()) {
                if (each.getName().equals(name)
                        && !each.isBridge()
                        && Arrays.equals(each.getParameterTypes(), guarded.getParameterTypes())
                        && isAssignable(guarded.getReturnType(), each.getReturnType())) {
                    return each;
                }
            }
        }
        return null;
    }

    /**
     * Returns true if the method can return a handler's result. A generic result has the type
     * {@code Object}, and a handler returns an object in place of a primitive value.
     */
    private static boolean isAssignable(Class<?> to, Class<?> from) {
        return to.isAssignableFrom(from) || from == Object.class || to.isPrimitive() && !from.isPrimitive();
    }

    boolean isFor(Throwable failure) {
        return !MethodGuard.isAny(failure, skipOn) && MethodGuard.isAny(failure, applyOn);
    }

    @Nullable Object call(
            InvocationContext context, Object[] parameters, Throwable failure, BeanManager beans)
            throws Exception {
        try {
            if (handler != null) {
                return handle(handler, new FailedCall(context.getMethod(), parameters, failure), beans);
            }
            return Objects.requireNonNull(method).invoke(context.getTarget(), parameters);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw (Exception) e.getCause();
        } finally {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static @Nullable Object handle(
            Class<? extends FallbackHandler<?>> type, ExecutionContext failed, BeanManager beans) {
        var instance = new Unmanaged<>(beans, type).newInstance();
        FallbackHandler<?> handler = instance.produce().inject().postConstruct().get();
        try {
            return handler.handle(failed);
        } finally {
            instance.preDestroy().dispose();
        }
    }
}
