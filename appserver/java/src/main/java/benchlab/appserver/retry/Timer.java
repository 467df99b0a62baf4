// SPDX-License-Identifier: Apache-2.0
// The time and the chance that retries use, so that tests have their own.
package benchlab.appserver.retry;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A clock that can be waited for, and random numbers. */
interface Timer {

    Timer SYSTEM =
            new Timer() {
                @Override
                public long nanoTime() {
                    return System.nanoTime();
                }

                @Override
                public void sleep(long nanos) throws InterruptedException {
                    TimeUnit.NANOSECONDS.sleep(nanos);
                }

                @Override
                public double random() {
                    return ThreadLocalRandom.current().nextDouble();
                }
            };

    long nanoTime();

    void sleep(long nanos) throws InterruptedException;

    /** A random number, at least 0, below 1. */
    double random();
}
