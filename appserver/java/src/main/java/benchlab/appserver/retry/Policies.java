// SPDX-License-Identifier: Apache-2.0
// The policies that annotations refer to.
package benchlab.appserver.retry;

import java.util.Map;

/**
 * The policies of an application that a {@link RetryInterceptor} serves. The application has one
 * bean of this type:
 *
 * <pre>{@code
 * @Produces
 * @ApplicationScoped
 * Policies policies() {
 *     return Policies.of(Map.of("", Policy.ofAttempts(5), "background", Policy.ofAttempts(9)));
 * }
 * }</pre>
 */
@FunctionalInterface
public interface Policies {

    /**
     * Finds the policy of {@code @Retried(name)}.
     *
     * @param name the name; empty for {@code @Retried} without a name
     * @return the policy; null if there is none
     */
    Policy named(String name);

    /**
     * Makes the policies of an application.
     *
     * @param policies the policies by name
     * @return the policies
     */
    static Policies of(Map<String, Policy> policies) {
        return Map.copyOf(policies)::get;
    }
}
