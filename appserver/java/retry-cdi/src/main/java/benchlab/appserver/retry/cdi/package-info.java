// SPDX-License-Identifier: Apache-2.0
/**
 * Interceptors that retry the marked methods of CDI and EJB beans: {@link
 * benchlab.appserver.retry.cdi.RetryInterceptor}.
 */
@NullMarked
package benchlab.appserver.retry.cdi;

import org.jspecify.annotations.NullMarked;
