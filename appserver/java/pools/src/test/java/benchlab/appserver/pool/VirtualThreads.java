// SPDX-License-Identifier: Apache-2.0
// Virtual threads, which the JVM has since Java 21. The tests are compiled for Java 17.
package benchlab.appserver.pool;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

final class VirtualThreads {

    private VirtualThreads() {}

    static boolean exist() {
        return Runtime.version().feature() >= 21;
    }

    /** Returns an executor with a virtual thread for each task. Skips the test if there are none. */
    static ExecutorService executor() throws ReflectiveOperationException {
        assumeTrue(exist(), "needs Java 21");
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    /** Returns a task that runs {@code task} in a virtual thread and waits for its result. */
    static <T> Callable<T> in(ExecutorService threads, Callable<T> task) {
        return () -> threads.submit(task).get();
    }

    static boolean isCurrentThreadVirtual() throws ReflectiveOperationException {
        try {
            return exist()
                    && (boolean)
                            Thread.class.getMethod("isVirtual").invoke(Thread.currentThread());
        } catch (InvocationTargetException e) {
            throw new AssertionError(e);
        }
    }
}
