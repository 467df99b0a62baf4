// SPDX-License-Identifier: Apache-2.0
// Which faults are retried, how often, and when.
package benchlab.appserver.retry;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * Which faults are retried, how often, and when. Each method returns a policy that differs in one
 * thing:
 *
 * <pre>{@code
 * Policy.ofAttempts(5)
 *         .deadline(Duration.ofSeconds(10))
 *         .backoff(Fault.DEADLOCK, new Backoff(Duration.ofMillis(5), Duration.ofMillis(200)))
 *         .without(Fault.LOCK_TIMEOUT)
 *         .budget(new Budget(0.1, 20))
 *         .metrics(metrics)
 *         .timeout(Duration.ofSeconds(15))
 * }</pre>
 *
 * @param attempts how often the work is run at most: n attempts are n - 1 retries. A call with
 *     an {@link IdempotencyKey} has as many again while its outcome is unknown
 * @param deadline over all attempts: no retry begins later than this after the call began. An
 *     attempt that runs is not stopped
 * @param backoffs the pauses of each fault that is retried; others end the call
 * @param budget what retries are taken from; null: no limit
 * @param metrics what counts; null: nothing is counted
 * @param repeatable whether the work may take effect twice, such as one that only reads: a fault
 *     after which the outcome is unknown is then retried too
 * @param timeout of the whole call, with all that it waits for: when it is over, the connections of
 *     its {@link Transactions} are cut off ({@link java.sql.Connection#abort}), so that an attempt
 *     fails whose server is silent. It holds for {@link Transactions} alone; SQLite has no server.
 *     Null: no limit
 */
public record Policy(
        int attempts,
        Duration deadline,
        Map<Fault, Backoff> backoffs,
        Budget budget,
        RetryMetrics metrics,
        boolean repeatable,
        Duration timeout) {

    private static final Duration DEFAULT_DEADLINE = Duration.ofSeconds(30);

    private static final Map<Fault, Backoff> DEFAULT_BACKOFFS =
            Map.of(
                    Fault.STALE_VERSION, new Backoff(Duration.ofMillis(1), Duration.ofMillis(50)),
                    Fault.SERIALIZATION_FAILURE, new Backoff(Duration.ofMillis(2), Duration.ofMillis(100)),
                    Fault.DEADLOCK, new Backoff(Duration.ofMillis(5), Duration.ofMillis(200)),
                    Fault.LOCK_TIMEOUT, new Backoff(Duration.ofMillis(10), Duration.ofMillis(1_000)),
                    Fault.BUSY, new Backoff(Duration.ofMillis(1), Duration.ofMillis(100)),
                    Fault.CONNECTION_LOST, new Backoff(Duration.ofMillis(50), Duration.ofMillis(1_000)),
                    Fault.OUTCOME_UNKNOWN, new Backoff(Duration.ofMillis(50), Duration.ofMillis(1_000)));

    public Policy {
        if (attempts < 1) {
            throw new IllegalArgumentException("attempts must be at least 1: " + attempts);
        } else if (deadline.isNegative()) {
            throw new IllegalArgumentException("deadline must not be negative: " + deadline);
        } else if (backoffs.containsKey(Fault.PERMANENT)) {
            throw new IllegalArgumentException("a permanent fault is not retried");
        }
        deadline.toNanos(); // Throws if it is beyond 292 years.
        if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
            throw new IllegalArgumentException("timeout must be positive: " + timeout);
        }
        Map<Fault, Backoff> copy = new EnumMap<>(Fault.class);
        copy.putAll(backoffs);
        backoffs = Collections.unmodifiableMap(copy);
    }

    /** A policy without a timeout. */
    public Policy(
            int attempts,
            Duration deadline,
            Map<Fault, Backoff> backoffs,
            Budget budget,
            RetryMetrics metrics,
            boolean repeatable) {
        this(attempts, deadline, backoffs, budget, metrics, repeatable, null);
    }

    /** All faults that pass, each with its usual backoff; 30 s; no budget, no metrics. */
    public static Policy ofAttempts(int attempts) {
        return new Policy(attempts, DEFAULT_DEADLINE, DEFAULT_BACKOFFS, null, null, false);
    }

    public Policy deadline(Duration time) {
        return new Policy(attempts, time, backoffs, budget, metrics, repeatable, timeout);
    }

    /** Retries a fault, after these pauses. */
    public Policy backoff(Fault fault, Backoff pauses) {
        Objects.requireNonNull(pauses, "pauses");
        return changed(fault, pauses);
    }

    /** Does not retry a fault. */
    public Policy without(Fault fault) {
        return changed(fault, null);
    }

    public Policy budget(Budget shared) {
        return new Policy(attempts, deadline, backoffs, shared, metrics, repeatable, timeout);
    }

    public Policy metrics(RetryMetrics shared) {
        return new Policy(attempts, deadline, backoffs, budget, shared, repeatable, timeout);
    }

    public Policy repeatable(boolean may) {
        return new Policy(attempts, deadline, backoffs, budget, metrics, may, timeout);
    }

    public Policy timeout(Duration time) {
        return new Policy(attempts, deadline, backoffs, budget, metrics, repeatable, time);
    }

    private Policy changed(Fault fault, Backoff pauses) {
        Map<Fault, Backoff> changed = new EnumMap<>(Fault.class);
        changed.putAll(backoffs);
        if (pauses == null) {
            changed.remove(fault);
        } else {
            changed.put(fault, pauses);
        }
        return new Policy(attempts, deadline, changed, budget, metrics, repeatable, timeout);
    }
}
