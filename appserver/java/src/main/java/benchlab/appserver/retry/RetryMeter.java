// SPDX-License-Identifier: Apache-2.0
// Counts what retries do.
package benchlab.appserver.retry;

import benchlab.appserver.counter.Counter;
import benchlab.appserver.counter.StripedCounter;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/** Counts calls and their faults, for all policies that name it. */
public final class RetryMeter {

    private final Counter calls = new StripedCounter();
    private final Map<Fault, Counter> faults = new EnumMap<>(Fault.class);
    private final Counter retries = new StripedCounter();
    private final Counter givenUp = new StripedCounter();
    private final Counter lostNanos = new StripedCounter();

    /** All figures at zero. */
    public RetryMeter() {
        for (Fault fault : Fault.values()) {
            faults.put(fault, new StripedCounter());
        }
    }

    /** The figures so far. */
    public RetryFigures figures() {
        Map<Fault, Long> counts = new EnumMap<>(Fault.class);
        faults.forEach((fault, counter) -> counts.put(fault, counter.value()));
        return new RetryFigures(
                calls.value(),
                counts,
                retries.value(),
                givenUp.value(),
                Duration.ofNanos(lostNanos.value()));
    }

    void countCall() {
        calls.increment();
    }

    void count(Fault fault) {
        faults.get(fault).increment();
    }

    void countRetry() {
        retries.increment();
    }

    void countGivenUp() {
        givenUp.increment();
    }

    void addLost(long nanos) {
        lostNanos.add(nanos);
    }
}
