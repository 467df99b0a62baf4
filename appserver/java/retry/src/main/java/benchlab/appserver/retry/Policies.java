// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The policies of an application, for the interceptors of CDI and EJB ({@code appserver-retry-cdi})
 * and of Spring ({@code appserver-retry-spring}). The application provides one bean of this type,
 * such as in CDI:
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
     * Returns the policy for {@code @Retried(name)}.
     *
     * @param name the name; empty for {@code @Retried} without a name
     * @return the policy, or null if there is none
     */
    @Nullable Policy named(String name);

    /**
     * Creates the policies of an application.
     *
     * @param policies the policies by name
     * @return the policies
     */
    static Policies of(Map<String, Policy> policies) {
        return Map.copyOf(policies)::get;
    }
}
