// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import benchlab.appserver.counter.Counter;
import benchlab.appserver.counter.StripedCounter;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/** Counts the calls, faults and retries of all policies that share these metrics. */
public final class RetryMetrics {

    private final Counter calls = new StripedCounter();
    private final Map<Fault, Counter> faults = new EnumMap<>(Fault.class);
    private final Counter retries = new StripedCounter();
    private final Counter givenUp = new StripedCounter();
    private final Counter failedNanos = new StripedCounter();

    /** Creates metrics at zero. */
    public RetryMetrics() {
        for (Fault fault : Fault.values()) {
            faults.put(fault, new StripedCounter());
        }
    }

    /**
     * Returns the statistics so far.
     *
     * @return the statistics
     */
    public RetryStatistics statistics() {
        Map<Fault, Long> counts = new EnumMap<>(Fault.class);
        faults.forEach((fault, counter) -> counts.put(fault, counter.value()));
        return new RetryStatistics(
                calls.value(),
                counts,
                retries.value(),
                givenUp.value(),
                Duration.ofNanos(failedNanos.value()));
    }

    void countCall() {
        calls.increment();
    }

    void count(Fault fault) {
        Objects.requireNonNull(faults.get(fault)).increment();
    }

    void countRetry() {
        retries.increment();
    }

    void countGivenUp() {
        givenUp.increment();
    }

    void addTimeInFailedAttempts(long nanos) {
        failedNanos.add(nanos);
    }
}
