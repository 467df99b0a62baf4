// SPDX-License-Identifier: Apache-2.0
// The Retry of SmallRye Fault Tolerance, without a container.
package benchlab.retry;

import io.smallrye.faulttolerance.api.Guard;
import java.time.temporal.ChronoUnit;

final class SmallRye {

    private static final int RETRIES = 3;
    private static final int FIRST_PAUSE_MS = 10;
    private static final int JITTER_MS = 5;

    private SmallRye() {}

    static String library() {
        return "SmallRye Fault Tolerance " + Guard.class.getPackage().getImplementationVersion();
    }

    /**
     * Creates a variant with delays of 10, 20 and 40 ms, each randomized by ±5 ms: the jitter of
     * this library is constant.
     */
    static Variant variant() {
        Guard guard =
                Guard.create()
                        .withRetry()
                        .maxRetries(RETRIES)
                        .delay(FIRST_PAUSE_MS, ChronoUnit.MILLIS)
                        .jitter(JITTER_MS, ChronoUnit.MILLIS)
                        .withExponentialBackoff() // With a factor of 2.
                        .done()
                        .whenException(failure -> TransientError.of(failure).isPresent())
                        .done()
                        .build();
        return new JdbcVariant(attempt -> guard.call(attempt, Void.class));
    }
}
