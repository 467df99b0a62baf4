// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience.microprofile;

import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.AfterBeanDiscovery;
import jakarta.enterprise.inject.spi.AnnotatedMethod;
import jakarta.enterprise.inject.spi.BeforeBeanDiscovery;
import jakarta.enterprise.inject.spi.Extension;
import jakarta.enterprise.inject.spi.ProcessAnnotatedType;
import jakarta.enterprise.inject.spi.WithAnnotations;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.microprofile.faulttolerance.Asynchronous;
import org.eclipse.microprofile.faulttolerance.Bulkhead;
import org.eclipse.microprofile.faulttolerance.CircuitBreaker;
import org.eclipse.microprofile.faulttolerance.Fallback;
import org.eclipse.microprofile.faulttolerance.Retry;
import org.eclipse.microprofile.faulttolerance.Timeout;
import org.eclipse.microprofile.faulttolerance.exceptions.FaultToleranceDefinitionException;
import org.jspecify.annotations.Nullable;

/**
 * Binds the interceptor to beans, checks their annotations when the application is deployed, and
 * holds the state of their guards, which all instances of a bean share.
 */
public class FaultToleranceExtension implements Extension {

    private final List<FaultToleranceDefinitionException> errors = new ArrayList<>();
    private final Map<Place, Optional<MethodGuard>> guards = new ConcurrentHashMap<>();

    private record Place(Method method, Class<?> bean) {}

    /** Creates the extension. Called by the container. */
    public FaultToleranceExtension() {}

    void addInterceptor(@Observes BeforeBeanDiscovery event) {
        event.addInterceptorBinding(Guarded.class);
        event.addAnnotatedType(
                FaultToleranceInterceptor.class, FaultToleranceInterceptor.class.getName());
    }

    <T> void bind(
            @Observes
                    @WithAnnotations({
                        Asynchronous.class,
                        Bulkhead.class,
                        CircuitBreaker.class,
                        Fallback.class,
                        Retry.class,
                        Timeout.class
                    })
                    ProcessAnnotatedType<T> event) {
        Class<T> type = event.getAnnotatedType().getJavaClass();
        if (type.isInterface()) {
            return;
        }
        event.configureAnnotatedType().add(Guarded.Literal.INSTANCE);
        for (AnnotatedMethod<? super T> method : event.getAnnotatedType().getMethods()) {
            try {
                MethodGuard.of(method.getJavaMember(), type);
            } catch (FaultToleranceDefinitionException e) {
                errors.add(e);
            }
        }
    }

    void report(@Observes AfterBeanDiscovery event) {
        errors.forEach(event::addDefinitionError);
    }

    /** Returns the guard of a method, or null if the method has no annotations. */
    @Nullable MethodGuard guard(Method method, Class<?> bean) {
        return guards.computeIfAbsent(new Place(method, bean), FaultToleranceExtension::create)
                .orElse(null);
    }

    private static Optional<MethodGuard> create(Place place) {
        return Optional.ofNullable(MethodGuard.of(place.method, place.bean));
    }
}
