// SPDX-License-Identifier: Apache-2.0
// What the interceptors ask their container for.
package benchlab.appserver.retry;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The policies of an application, and the transaction of the calling thread. */
@ApplicationScoped
class RetryContainer {

    private static final boolean HAS_TRANSACTIONS =
            isPresent("jakarta.transaction.TransactionSynchronizationRegistry");

    private final Map<Mark, Policy> policies = new ConcurrentHashMap<>();
    private Instance<Policies> named;
    private ContainerTransaction transaction;

    private record Mark(Method method, Class<?> target) {}

    /** For the container's proxy. */
    RetryContainer() {}

    @Inject
    RetryContainer(Instance<Policies> named, @Any Instance<Object> beans) {
        this.named = named;
        transaction = HAS_TRANSACTIONS ? new ContainerTransaction(beans) : null;
    }

    /**
     * The policy of a marked method.
     *
     * @throws IllegalStateException if the application has none of this name
     */
    Policy policy(Method method, Class<?> target) {
        return policies.computeIfAbsent(new Mark(method, target), this::find);
    }

    boolean isInTransaction() {
        return transaction != null && transaction.isOpen();
    }

    /** The transaction of this thread, if it {@link #isInTransaction}. */
    ContainerTransaction transaction() {
        return transaction;
    }

    private Policy find(Mark marked) {
        String name = nameOf(marked);
        if (!named.isResolvable()) {
            throw new IllegalStateException(
                    (named.isAmbiguous() ? "more than one bean" : "no bean")
                            + " of type " + Policies.class.getName() + ", for @Retried "
                            + marked.method());
        }
        Policy policy = named.get().named(name);
        if (policy == null) {
            throw new IllegalStateException("no policy \"" + name + "\" for " + marked.method());
        }
        return policy;
    }

    /** A class's mark holds in CDI for the methods that it inherits, too. */
    private static String nameOf(Mark marked) {
        Retried mark = RetryProxy.markOf(marked.method(), marked.target());
        for (Class<?> type = marked.target(); mark == null && type != null; ) {
            mark = type.getAnnotation(Retried.class);
            type = type.getSuperclass();
        }
        return mark == null ? "" : mark.value(); // It may come from a stereotype.
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
