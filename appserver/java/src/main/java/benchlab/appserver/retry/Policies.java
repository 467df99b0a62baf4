// SPDX-License-Identifier: Apache-2.0
// The policies that an application's marks name.
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
 *     return Policies.of(Map.of("", Policy.ofAttempts(5), "patient", Policy.ofAttempts(9)));
 * }
 * }</pre>
 */
@FunctionalInterface
public interface Policies {

    /**
     * The policy that {@code @Retried(name)} names; null if there is none.
     *
     * @param name empty for {@code @Retried} without a name
     */
    Policy named(String name);

    static Policies of(Map<String, Policy> policies) {
        return Map.copyOf(policies)::get;
    }
}
