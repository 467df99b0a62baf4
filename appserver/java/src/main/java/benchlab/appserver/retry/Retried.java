// SPDX-License-Identifier: Apache-2.0
// What marks the methods that are retried.
package benchlab.appserver.retry;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method that a {@link RetryProxy} retries, or a type all of whose own methods it retries.
 * What is nearest holds: a method's mark before its type's, and a class's before its interface's.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface Retried {

    /** The name of the policy. */
    String value() default "";
}
