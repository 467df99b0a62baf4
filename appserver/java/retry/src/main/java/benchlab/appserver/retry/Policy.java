// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import benchlab.appserver.resilience.Backoff;
import benchlab.appserver.resilience.Budget;
import benchlab.appserver.resilience.CircuitBreaker;
import benchlab.appserver.resilience.RetryListener;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A retry policy. It determines which faults are retried, how often, and when. Each method returns
 * a copy that differs in one setting:
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
 * @param attempts the maximum number of runs of the work: n attempts are n - 1 retries. A call with
 *     an {@link IdempotencyKey} has twice as many while its outcome is unknown
 * @param deadline the time from the start of the call after which no retry begins. A running
 *     attempt is not stopped
 * @param backoffs the delays for each fault that is retried; all other faults end the call
 * @param budget limits the retries of all calls that share it; null for no limit
 * @param metrics counts calls and faults; null to count nothing
 * @param repeatable true if the work may take effect twice, such as work that only reads. A fault
 *     with an unknown outcome is then retried, too
 * @param timeout the maximum time of the whole call. After it, the connections of its {@link
 *     Transactions} are aborted ({@link java.sql.Connection#abort}), so that an attempt fails if
 *     the server does not respond. It applies only to {@link Transactions}, and not to SQLite,
 *     which has no server. Null for no timeout
 * @param breaker a circuit breaker for all attempts; a call that it rejects fails immediately. It
 *     should record only {@link Faults#isOutage outages}. Null for no circuit breaker
 * @param listener observes calls; null for none
 */
public record Policy(
        int attempts,
        Duration deadline,
        Map<Fault, Backoff> backoffs,
        @Nullable Budget budget,
        @Nullable RetryMetrics metrics,
        boolean repeatable,
        @Nullable Duration timeout,
        @Nullable CircuitBreaker breaker,
        @Nullable RetryListener listener) {

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
            throw new IllegalArgumentException("backoffs must not contain PERMANENT, because permanent faults are not retried");
        }
        deadline.toNanos(); // Throws if it exceeds 292 years.
        if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
            throw new IllegalArgumentException("timeout must be positive: " + timeout);
        } else if (timeout != null) {
            timeout.toNanos(); // Throws if it exceeds 292 years.
        }
        Map<Fault, Backoff> copy = new EnumMap<>(Fault.class);
        copy.putAll(backoffs);
        backoffs = Collections.unmodifiableMap(copy);
    }

    /**
     * Returns a policy that retries all transient errors with their default backoffs, within 30 s,
     * without a budget and without metrics.
     *
     * @param attempts the maximum number of runs of the work
     * @return the policy
     */
    public static Policy ofAttempts(int attempts) {
        return new Policy(attempts, DEFAULT_DEADLINE, DEFAULT_BACKOFFS, null, null, false, null, null, null);
    }

    /**
     * Returns a copy with a different deadline.
     *
     * @param time the time from the start of the call after which no retry begins
     * @return the policy
     */
    public Policy deadline(Duration time) {
        return new Policy(attempts, time, backoffs, budget, metrics, repeatable, timeout, breaker, listener);
    }

    /**
     * Returns a copy that retries a fault.
     *
     * @param fault the fault
     * @param pauses the delays before its retries
     * @return the policy
     */
    public Policy backoff(Fault fault, Backoff pauses) {
        Objects.requireNonNull(pauses, "pauses");
        return changed(fault, pauses);
    }

    /**
     * Returns a copy that does not retry a fault.
     *
     * @param fault the fault
     * @return the policy
     */
    public Policy without(Fault fault) {
        return changed(fault, null);
    }

    /**
     * Returns a copy with a different budget.
     *
     * @param shared the budget; may be null
     * @return the policy
     */
    public Policy budget(@Nullable Budget shared) {
        return new Policy(attempts, deadline, backoffs, shared, metrics, repeatable, timeout, breaker, listener);
    }

    /**
     * Returns a copy with metrics.
     *
     * @param shared the metrics; may be null
     * @return the policy
     */
    public Policy metrics(@Nullable RetryMetrics shared) {
        return new Policy(attempts, deadline, backoffs, budget, shared, repeatable, timeout, breaker, listener);
    }

    /**
     * Returns a copy that sets whether the work may take effect twice.
     *
     * @param may true if the work may take effect twice
     * @return the policy
     */
    public Policy repeatable(boolean may) {
        return new Policy(attempts, deadline, backoffs, budget, metrics, may, timeout, breaker, listener);
    }

    /**
     * Returns a copy with a different timeout. With a timeout, another thread opens the connections,
     * so thread-local state of the caller is not visible to the {@link Transactions.Source}.
     *
     * @param time the maximum time of the whole call, at most 292 years; null for no timeout
     * @return the policy
     */
    public Policy timeout(@Nullable Duration time) {
        return new Policy(attempts, deadline, backoffs, budget, metrics, repeatable, time, breaker, listener);
    }

    /**
     * Returns a copy with a circuit breaker for all attempts:
     *
     * <pre>{@code
     * new CircuitBreaker(CircuitBreaker.Options.DEFAULT.recording(Faults::isOutage))
     * }</pre>
     *
     * @param shared the circuit breaker; may be null
     * @return the policy
     */
    public Policy breaker(@Nullable CircuitBreaker shared) {
        return new Policy(attempts, deadline, backoffs, budget, metrics, repeatable, timeout, shared, listener);
    }

    /**
     * Returns a copy with a listener. The kind of its failed attempts is a {@link Fault}.
     *
     * @param observer the listener; may be null
     * @return the policy
     */
    public Policy listener(@Nullable RetryListener observer) {
        return new Policy(attempts, deadline, backoffs, budget, metrics, repeatable, timeout, breaker, observer);
    }

    private Policy changed(Fault fault, @Nullable Backoff pauses) {
        Map<Fault, Backoff> changed = new EnumMap<>(Fault.class);
        changed.putAll(backoffs);
        if (pauses == null) {
            changed.remove(fault);
        } else {
            changed.put(fault, pauses);
        }
        return new Policy(attempts, deadline, changed, budget, metrics, repeatable, timeout, breaker, listener);
    }
}
