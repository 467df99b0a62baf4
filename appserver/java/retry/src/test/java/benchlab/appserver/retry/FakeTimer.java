// SPDX-License-Identifier: Apache-2.0
// A clock that only delays advance, and that records the delays.
package benchlab.appserver.retry;

import java.util.ArrayList;
import java.util.List;

class FakeTimer implements Timer {
    final List<Long> pauses = new ArrayList<>();
    long now = Long.MAX_VALUE - 10; // A clock may wrap around.
    double random = 0.5;

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
