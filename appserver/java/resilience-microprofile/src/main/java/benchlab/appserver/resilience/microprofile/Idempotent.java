// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience.microprofile;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method, or all methods of a class, as idempotent: a call that takes effect twice has the
 * same effect as a call that takes effect once. {@code @Retry} then also repeats calls whose
 * outcome is unknown.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface Idempotent {}
