// SPDX-License-Identifier: Apache-2.0
// A clock that only delays advance, and that records the delays.
package benchlab.appserver.resilience;

import java.util.ArrayList;
import java.util.List;

public class FakeTimer implements Timer {
    /** The durations of all calls to {@link #sleep}, in nanoseconds. */
    public final List<Long> pauses = new ArrayList<>();

    /** The time in nanoseconds. It begins near the maximum, because a clock may wrap around. */
    public long now = Long.MAX_VALUE - 10;

    /** The next random number. */
    public double random = 0.5;

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        pauses.add(nanos);
        now += nanos;
    }

    @Override
    public double random() {
        return random;
    }
}
