// SPDX-License-Identifier: Apache-2.0
/** Retries of Spring beans: {@link benchlab.appserver.retry.spring.EnableRetries}. */
@NullMarked
package benchlab.appserver.retry.spring;

import org.jspecify.annotations.NullMarked;
