// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A clock with sleep, and random numbers. Tests replace it. */
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

    /** Returns a random number in [0, 1). */
    double random();
}
