// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience.microprofile;

import benchlab.appserver.resilience.Guard;
import benchlab.appserver.resilience.GuardException;
import benchlab.appserver.resilience.TimeLimiter;
import benchlab.appserver.resilience.Timer;
import benchlab.appserver.resilience.Work;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.interceptor.InvocationContext;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.eclipse.microprofile.faulttolerance.Asynchronous;
import org.eclipse.microprofile.faulttolerance.Bulkhead;
import org.eclipse.microprofile.faulttolerance.CircuitBreaker;
import org.eclipse.microprofile.faulttolerance.Fallback;
import org.eclipse.microprofile.faulttolerance.Retry;
import org.eclipse.microprofile.faulttolerance.Timeout;
import org.eclipse.microprofile.faulttolerance.exceptions.BulkheadException;
import org.eclipse.microprofile.faulttolerance.exceptions.CircuitBreakerOpenException;
import org.eclipse.microprofile.faulttolerance.exceptions.FaultToleranceDefinitionException;
import org.eclipse.microprofile.faulttolerance.exceptions.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The guards of one method, from the outside to the inside as the specification orders them:
 * fallback, retry, circuit breaker, timeout, bulkhead.
 */
final class MethodGuard {

    private final @Nullable FallbackCall fallback;
    private final @Nullable RetryLoop retry;
    private final @Nullable FailureCounter breaker;
    private final @Nullable Guard timeout;
    private final @Nullable Guard bulkhead;

    private MethodGuard(Method method, Class<?> bean) {
        var marks = new Marks(method, bean);
        marks.check(marks.find(Asynchronous.class) == null, "@Asynchronous is not supported");
        Fallback fallbackMark = method.getAnnotation(Fallback.class); // Not permitted on classes.
        fallback = fallbackMark == null ? null : FallbackCall.of(fallbackMark, marks);
        Retry retryMark = marks.find(Retry.class);
        retry = retryMark == null ? null : RetryLoop.of(retryMark, marks);
        CircuitBreaker breakerMark = marks.find(CircuitBreaker.class);
        breaker = breakerMark == null ? null : FailureCounter.of(breakerMark, marks);
        timeout = limiter(marks.find(Timeout.class), marks);
        bulkhead = bulkhead(marks.find(Bulkhead.class), marks);
    }

    /**
     * Creates the guards of a method.
     *
     * @return the guards; null if the method and its class have no annotations
     * @throws FaultToleranceDefinitionException if the annotations are not permitted
     */
    static @Nullable MethodGuard of(Method method, Class<?> bean) {
        var guard = new MethodGuard(method, bean);
        boolean isEmpty =
                guard.fallback == null
                        && guard.retry == null
                        && guard.breaker == null
                        && guard.timeout == null
                        && guard.bulkhead == null;
        return isEmpty ? null : guard;
    }

    /** The annotations of a method. */
    record Marks(Method method, Class<?> bean) {

        /** Returns the annotation of the method, or else of its class. */
        <A extends Annotation> @Nullable A find(Class<A> type) {
            A mark = method.getAnnotation(type);
            return mark != null ? mark : bean.getAnnotation(type);
        }

        void check(boolean holds, String rule) {
            if (!holds) {
                throw new FaultToleranceDefinitionException(rule + ": " + method);
            }
        }

        Duration time(long amount, ChronoUnit unit) {
            try {
                Duration time = Duration.of(amount, unit);
                time.toNanos(); // Throws if it exceeds 292 years.
                return time;
            } catch (RuntimeException e) {
                throw new FaultToleranceDefinitionException(
                        "invalid duration: " + amount + " " + unit + ": " + method, e);
            }
        }
    }

    private static @Nullable Guard limiter(@Nullable Timeout mark, Marks marks) {
        if (mark == null) {
            return null;
        }
        marks.check(mark.value() >= 0, "the value of @Timeout must not be negative");
        return mark.value() == 0
                ? null
                : TimeLimiter.inCallersThread(marks.time(mark.value(), mark.unit()));
    }

    private static @Nullable Guard bulkhead(@Nullable Bulkhead mark, Marks marks) {
        if (mark == null) {
            return null;
        }
        marks.check(mark.value() >= 1, "the value of @Bulkhead must be at least 1");
        marks.check(mark.waitingTaskQueue() >= 1, "waitingTaskQueue must be at least 1");
        return new benchlab.appserver.resilience.Bulkhead(mark.value(), Duration.ZERO);
    }

    @SuppressWarnings("NullAway") // It does not read the annotation of a type argument of Work.
    @Nullable Object call(InvocationContext context, BeanManager beans) throws Exception {
        Object[] parameters = context.getParameters().clone();
        Work<@Nullable Object, Exception> attempt =
                () -> {
                    context.setParameters(parameters.clone());
                    return guarded(context);
                };
        try {
            return retry == null ? attempt.run() : retry.call(attempt, Timer.SYSTEM);
        } catch (Throwable failure) {
            if (fallback == null || !fallback.isFor(failure)) {
                throw failure;
            }
            return fallback.call(context, parameters, failure, beans);
        }
    }

    @SuppressWarnings("NullAway") // It does not read the annotation of a type argument of Work.
    private @Nullable Object guarded(InvocationContext context) throws Exception {
        Work<@Nullable Object, Exception> inBulkhead = () -> translated(bulkhead, context::proceed);
        Work<@Nullable Object, Exception> inTime = () -> translated(timeout, inBulkhead);
        return breaker == null ? inTime.run() : breaker.call(inTime);
    }

    /**
     * Runs work in a guard, and converts the exceptions of the guard to exceptions of MicroProfile
     * Fault Tolerance.
     */
    private static @Nullable Object translated(
            @Nullable Guard guard, Work<@Nullable Object, Exception> work) throws Exception {
        if (guard == null) {
            return work.run();
        }
        try {
            return guard.<@Nullable Object, Exception>call(work);
        } catch (GuardException failure) {
            throw translated(failure);
        }
    }

    static Exception translated(GuardException failure) {
        String message = String.valueOf(failure.getMessage());
        if (failure instanceof benchlab.appserver.resilience.BulkheadFullException) {
            return new BulkheadException(message, failure);
        } else if (failure instanceof benchlab.appserver.resilience.CircuitOpenException) {
            return new CircuitBreakerOpenException(message, failure);
        }
        return new TimeoutException(message, failure);
    }

    /** Returns true if an exception is an instance of one of the types. */
    static boolean isAny(Throwable failure, Class<? extends Throwable>[] types) {
        for (Class<? extends Throwable> type : types) {
            if (type.isInstance(failure)) {
                return true;
            }
        }
        return false;
    }
}
