// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry.spring;

import benchlab.appserver.retry.IdempotencyKey;
import benchlab.appserver.retry.OutcomeUnknownException;
import benchlab.appserver.retry.Policies;
import benchlab.appserver.retry.Retried;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Import;

/**
 * Enables retries of the {@link Retried} methods of Spring beans. Put it on a configuration class
 * that also has a bean of type {@link Policies}:
 *
 * <pre>{@code
 * @Configuration
 * @EnableTransactionManagement
 * @EnableRetries
 * class ShopConfiguration {
 *     @Bean
 *     Policies policies() {
 *         return Policies.of(Map.of("", Policy.ofAttempts(5)));
 *     }
 * }
 * }</pre>
 *
 * <ul>
 *   <li>The retry is outside of {@code @Transactional}, so each attempt has its own transaction, a
 *       failed commit is retried, and no transaction is open during a delay. For this purpose, the
 *       order of Spring's transaction advice is set to {@link Integer#MAX_VALUE} − 10 if it is the
 *       default. An application that sets it must choose a higher value than {@link #ORDER}.
 *   <li>A failed commit is rolled back: {@code rollbackOnCommitFailure} of the transaction managers
 *       is set. Otherwise Spring would commit the transaction that is still open, and the retry
 *       would take effect twice.
 *   <li>A transient error causes a rollback, even if it is a checked exception, after which Spring
 *       would otherwise commit. If a connection is lost before the commit, nothing was committed,
 *       so the call can be retried.
 *   <li>A call within an open transaction is rejected with an {@link IllegalStateException}, because
 *       only the code that began the transaction can retry it.
 *   <li>A marked method that is called within a retried call runs once. Its transient error prevents
 *       the commit of the transaction that is open, even if the caller catches it, and even if a {@code
 *       TransactionTemplate} has begun it.
 *   <li>A connection that is lost during the commit causes an {@link OutcomeUnknownException}. The
 *       call is retried only if the policy is repeatable, as with {@link IdempotencyKey#once}.
 *   <li>As with all of Spring's advice, calls through {@code this} are not retried.
 * </ul>
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@SuppressWarnings("exports") // The configuration is for Spring alone.
@Import(RetryConfiguration.class)
public @interface EnableRetries {

    /** The order of the advice that retries. */
    int ORDER = Integer.MAX_VALUE - 20;
}
