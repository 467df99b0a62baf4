// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A clock that can sleep, and a source of random numbers. Tests replace it, so as not to sleep. */
public interface Timer {

    /** The clock of the system. */
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

    /**
     * Returns the time in nanoseconds since an arbitrary moment. It never goes back, but may wrap
     * around.
     *
     * @return the time
     */
    long nanoTime();

    /**
     * Waits for some time.
     *
     * @param nanos the time in nanoseconds
     * @throws InterruptedException if the thread is interrupted
     */
    void sleep(long nanos) throws InterruptedException;

    /**
     * Returns a random number in [0, 1).
     *
     * @return the number
     */
    double random();
}
