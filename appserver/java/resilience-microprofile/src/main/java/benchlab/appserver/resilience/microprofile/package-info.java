// SPDX-License-Identifier: Apache-2.0
/**
 * The annotations of MicroProfile Fault Tolerance 4.1 on CDI beans: {@link
 * benchlab.appserver.resilience.microprofile.FaultToleranceInterceptor}.
 */
@NullMarked
package benchlab.appserver.resilience.microprofile;

import org.jspecify.annotations.NullMarked;
