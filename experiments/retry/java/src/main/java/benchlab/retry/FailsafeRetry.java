// SPDX-License-Identifier: Apache-2.0
// The RetryPolicy of Failsafe.
package benchlab.retry;

import dev.failsafe.Failsafe;
import dev.failsafe.FailsafeException;
import dev.failsafe.FailsafeExecutor;
import dev.failsafe.RetryPolicy;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.Callable;

final class FailsafeRetry {

    private static final int RETRIES = 3;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final Duration MAX_PAUSE = Duration.ofMillis(100);
    private static final double JITTER = 0.5;
    private static final String VERSION = "/META-INF/maven/dev.failsafe/failsafe/pom.properties";

    private FailsafeRetry() {}

    static String library() {
        try (InputStream file = Failsafe.class.getResourceAsStream(VERSION)) {
            var properties = new Properties();
            if (file != null) {
                properties.load(file);
            }
            return "Failsafe " + properties.getProperty("version");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Creates a variant with delays of 10, 20 and 40 ms, each randomized by ±50%. */
    static Variant variant() {
        RetryPolicy<Object> policy =
                RetryPolicy.builder()
                        .handleIf(failure -> TransientError.of(failure).isPresent())
                        .withMaxRetries(RETRIES)
                        .withBackoff(FIRST_PAUSE, MAX_PAUSE) // With a factor of 2.
                        .withJitter(JITTER)
                        .build();
        FailsafeExecutor<Object> executor = Failsafe.with(policy);
        return new JdbcVariant(attempt -> call(executor, attempt));
    }

    /**
     * Makes a call, and throws its exception without the wrapper that the library adds to checked
     * exceptions.
     */
    private static void call(FailsafeExecutor<Object> executor, Callable<Void> attempt)
            throws Exception {
        try {
            executor.get(attempt::call);
        } catch (FailsafeException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }
}
