// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The end of a timeout. Times are in nanoseconds. */
record Deadline(long start, long length) {

    Deadline(Duration timeout) {
        this(System.nanoTime(), TimeUnit.NANOSECONDS.convert(timeout));
    }

    /** Returns a deadline 292 years from now. */
    static Deadline never() {
        return new Deadline(System.nanoTime(), Long.MAX_VALUE);
    }

    Duration left() {
        return Duration.ofNanos(nanosLeft());
    }

    long nanosLeft() {
        return Math.max(0, length - (System.nanoTime() - start));
    }
}
