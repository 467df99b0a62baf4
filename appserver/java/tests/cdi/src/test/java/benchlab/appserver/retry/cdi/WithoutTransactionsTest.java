// SPDX-License-Identifier: Apache-2.0
// Tests CDI applications without Jakarta Transactions, and one without policies.
package benchlab.appserver.retry.cdi;

import static org.junit.jupiter.api.Assertions.assertThrows;

import benchlab.appserver.retry.Policies;
import benchlab.appserver.retry.Policy;
import benchlab.appserver.retry.Retried;
import benchlab.appserver.retry.StaleVersionException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.enterprise.inject.se.SeContainerInitializer;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class WithoutTransactionsTest {

    /**
     * Policies of two attempts, for tests that list this class as a bean. Other tests have their own policies.
     */
    public static class Twice implements Policies {
        @Override
        public Policy named(String name) {
            return Policy.ofAttempts(2);
        }
    }

    @ApplicationScoped
    public static class Shop {
        private int runs;

        @Retried
        public int place() {
            if (++runs == 1) {
                throw new StaleVersionException();
            }
            return runs;
        }
    }

    /** Runs in a class loader without Jakarta Transactions. */
    public static final class Isolated implements Runnable {
        @Override
        public void run() {
            check(
                    open(Twice.class, Shop.class),
                    shop -> require(shop.place() == 2, "it was not retried"));
            check(
                    open(Shop.class),
                    shop -> {
                        try {
                            shop.place();
                            throw new AssertionError("it had a policy");
                        } catch (IllegalStateException e) {
                            require(e.getMessage().startsWith("no bean of type "), e.getMessage());
                        }
                    });
        }

        private static SeContainer open(Class<?>... beans) {
            return SeContainerInitializer.newInstance()
                    .disableDiscovery()
                    .addBeanClasses(
                            RetryInterceptor.class, AttemptInterceptor.class, RetryContainer.class)
                    .addBeanClasses(beans)
                    .initialize();
        }

        private static void check(
                SeContainer container, Consumer<Shop> check) {
            try (container) {
                check.accept(container.select(Shop.class).get());
            }
        }

        private static void require(boolean isTrue, String message) {
            if (!isTrue) {
                throw new AssertionError(message);
            }
        }
    }

    @Test
    void theInterceptorsNeedNone() throws Exception {
        URL[] paths =
                Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                        .filter(path -> !path.matches(".*(jakarta.transaction|narayana|agroal).*"))
                        .map(WithoutTransactionsTest::url)
                        .toArray(URL[]::new);
        var thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (var loader = new URLClassLoader(paths, ClassLoader.getPlatformClassLoader())) {
            assertThrows(
                    ClassNotFoundException.class,
                    () -> loader.loadClass("jakarta.transaction.Transactional"));
            thread.setContextClassLoader(loader);
            Class<?> isolated = loader.loadClass(Isolated.class.getName());
            ((Runnable) isolated.getConstructor().newInstance()).run();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static URL url(String path) {
        try {
            return Path.of(path).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(path, e);
        }
    }
}
