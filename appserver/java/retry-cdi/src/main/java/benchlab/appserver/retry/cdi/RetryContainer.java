// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry.cdi;

import benchlab.appserver.retry.Policies;
import benchlab.appserver.retry.Policy;
import benchlab.appserver.retry.Retried;
import benchlab.appserver.retry.RetryProxy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The interceptors' access to the container: the policies of the application, and the transaction
 * of the calling thread.
 */
@ApplicationScoped
class RetryContainer {

    private static final boolean HAS_TRANSACTIONS =
            isPresent("jakarta.transaction.TransactionSynchronizationRegistry");

    private final Map<Mark, Policy> policies = new ConcurrentHashMap<>();
    private Instance<Policies> named;
    private @Nullable ContainerTransaction transaction;

    private record Mark(Method method, Class<?> target) {}

    /** Creates an object for the container's proxy, which does not use the fields. */
    @SuppressWarnings("NullAway.Init")
    RetryContainer() {}

    @Inject
    RetryContainer(Instance<Policies> named, @Any Instance<Object> beans) {
        this.named = named;
        transaction = HAS_TRANSACTIONS ? new ContainerTransaction(beans) : null;
    }

    /**
     * Returns the policy of a marked method.
     *
     * @throws IllegalStateException if the application has no policy with the name in the
     *     annotation
     */
    Policy policy(Method method, Class<?> target) {
        return policies.computeIfAbsent(new Mark(method, target), this::find);
    }

    boolean isInTransaction() {
        return transaction != null && transaction.isOpen();
    }

    /** Returns the transaction of this thread. Valid only if {@link #isInTransaction}. */
    ContainerTransaction transaction() {
        return Objects.requireNonNull(transaction);
    }

    private Policy find(Mark marked) {
        String name = nameOf(marked);
        if (!named.isResolvable()) {
            throw new IllegalStateException(
                    (named.isAmbiguous() ? "more than one bean" : "no bean")
                            + " of type "
                            + Policies.class.getName()
                            + "; @Retried "
                            + marked.method()
                            + " requires exactly one");
        }
        Policy policy = named.get().named(name);
        if (policy == null) {
            throw new IllegalStateException(
                    "no policy \""
                            + name
                            + "\" for "
                            + marked.method()
                            + "; add it to the application's Policies bean");
        }
        return policy;
    }

    /**
     * Returns the name of the policy. In CDI, the annotation of a class also applies to inherited
     * methods.
     */
    private static String nameOf(Mark marked) {
        Retried mark = RetryProxy.markOf(marked.method(), marked.target());
        for (Class<?> type = marked.target(); mark == null && type != null; ) {
            mark = type.getAnnotation(Retried.class);
            type = type.getSuperclass();
        }
        return mark == null ? "" : mark.value(); // The annotation may come from a stereotype.
    }

    private static boolean isPresent(String type) {
        try {
            Class.forName(type, false, RetryContainer.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
