// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience.microprofile;

import jakarta.enterprise.util.AnnotationLiteral;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The binding of {@link FaultToleranceInterceptor}. {@link FaultToleranceExtension} adds it to each
 * bean with an annotation of MicroProfile Fault Tolerance.
 */
@Inherited
@InterceptorBinding
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@interface Guarded {

    /** An instance of the annotation. */
    final class Literal extends AnnotationLiteral<Guarded> implements Guarded {
        private static final long serialVersionUID = 1;

        static final Literal INSTANCE = new Literal();

        private Literal() {}
    }
}
