// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import jakarta.enterprise.util.Nonbinding;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method that is retried, or a type whose own methods are all retried. The nearest
 * annotation applies: the annotation of a method overrides the annotation of its type, and the
 * annotation of a class overrides the annotation of its interface.
 *
 * <p>In CDI and EJB, the interceptors of the artifact {@code appserver-retry-cdi} use the
 * annotations of classes, but not of interfaces; elsewhere {@link RetryProxy} uses both. Java
 * ignores the Jakarta annotations on this type if they are not on the class path.
 */
@Documented
@SuppressWarnings("exports") // Modules that use this annotation need not read those of Jakarta EE.
@InterceptorBinding
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface Retried {

    /**
     * Returns the name of the policy, as in {@link Policies} or {@link RetryProxy#of}.
     *
     * @return the name; empty for the policy without a name
     */
    @Nonbinding
    String value() default "";
}
