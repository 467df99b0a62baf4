// SPDX-License-Identifier: Apache-2.0
// What marks the methods that are retried.
package benchlab.appserver.retry;

import jakarta.enterprise.util.Nonbinding;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method that is retried, or a type all of whose own methods are. What is nearest holds: a
 * method's mark before its type's, and a class's before its interface's.
 *
 * <p>In CDI and EJB a {@link RetryInterceptor} follows the marks of classes, not of interfaces;
 * elsewhere a {@link RetryProxy} follows both. Java ignores the annotations of Jakarta here if
 * these are not on the class path.
 */
@Documented
@InterceptorBinding
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface Retried {

    /** The name of the policy. */
    @Nonbinding
    String value() default "";
}
