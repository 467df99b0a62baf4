// SPDX-License-Identifier: Apache-2.0
// Checks that the proxy works without any class of Jakarta EE.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import benchlab.appserver.counter.Counter;
import benchlab.appserver.resilience.Backoff;
import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;

class WithoutContainerTest {

    /** Runs in a class loader without Jakarta EE. */
    public static final class Isolated implements Runnable {

        interface Orders {
            @Retried
            int place();
        }

        @Override
        public void run() {
            int[] runs = {0};
            Orders shop =
                    () -> {
                        if (++runs[0] == 1) {
                            throw new StaleVersionException();
                        }
                        return runs[0];
                    };
            assertRetried(RetryProxy.of(Orders.class, shop, Policy.ofAttempts(2)).place());
        }

        private static void assertRetried(int runs) {
            if (runs != 2) {
                throw new AssertionError("runs: " + runs);
            }
        }
    }

    @Test
    void theProxyRetries() throws Exception {
        URL[] paths = {
            pathOf(Retried.class), pathOf(Backoff.class), pathOf(Counter.class), pathOf(Isolated.class)
        };
        try (var loader = new URLClassLoader(paths, ClassLoader.getPlatformClassLoader())) {
            assertThrows(
                    ClassNotFoundException.class,
                    () -> loader.loadClass("jakarta.interceptor.InterceptorBinding"));
            Class<?> isolated = loader.loadClass(Isolated.class.getName());
            assertEquals(loader, isolated.getClassLoader());
            ((Runnable) isolated.getConstructor().newInstance()).run();
        }
    }

    private static URL pathOf(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }
}
