// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Retries calls of any kind, such as HTTP requests. Each method returns a copy that differs in one
 * setting:
 *
 * <pre>{@code
 * RetryPolicy.of(HttpFailures::classify)
 *         .attempts(4)
 *         .backoff(new Backoff(Duration.ofMillis(50), Duration.ofSeconds(2)))
 *         .deadline(Duration.ofSeconds(10))
 *         .budget(budget)
 * }</pre>
 *
 * <ul>
 *   <li>{@link FailureKind#TRANSIENT} failures are retried; a call whose outcome is unknown only if
 *       it is {@link #idempotent}.
 *   <li>The exception of the last attempt is thrown unchanged. The exception of each attempt has
 *       the exception of the previous attempt as a suppressed exception. Errors are not caught.
 *   <li>An interrupt ends the retries and the delay between them; the interrupt flag stays set. An
 *       {@link InterruptedException} of the work is not retried, whatever its classification.
 *   <li>Nested policies multiply their attempts. A shared {@link Budget} limits the retries.
 * </ul>
 */
public final class RetryPolicy implements Guard {

    private static final int DEFAULT_ATTEMPTS = 3;
    private static final Duration DEFAULT_DEADLINE = Duration.ofSeconds(30);
    private static final Backoff DEFAULT_BACKOFF =
            new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1));

    private final Settings settings;

    private static final class Settings implements Cloneable {
        private Classifier classifier;
        private Function<@Nullable Object, @Nullable Verdict> results = result -> null;
        private int attempts = DEFAULT_ATTEMPTS;
        private Duration deadline = DEFAULT_DEADLINE;
        private Backoff backoff = DEFAULT_BACKOFF;
        private boolean idempotent;
        private @Nullable Budget budget;
        private @Nullable RetryListener listener;
        private Timer timer = Timer.SYSTEM;

        Settings(Classifier classifier) {
            this.classifier = Objects.requireNonNull(classifier, "classifier");
        }

        Settings copy() {
            try {
                return (Settings) clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** An attempt whose result is a failure, for listeners and as a suppressed exception. */
    private static final class FailedResult extends Exception {
        private static final long serialVersionUID = 1;

        FailedResult(@Nullable Object result) {
            super("the result is a failure: " + result, null, true, false);
        }
    }

    private RetryPolicy(Settings settings) {
        this.settings = settings;
    }

    /**
     * Returns a policy of 3 attempts within 30 s, with delays of up to 50 ms before the first retry
     * and up to 1 s before later retries.
     *
     * @param classifier classifies exceptions
     * @return the policy
     */
    public static RetryPolicy of(Classifier classifier) {
        return new RetryPolicy(new Settings(classifier));
    }

    /**
     * Returns a copy with a different number of attempts.
     *
     * @param most the maximum number of runs of the work: n attempts are n - 1 retries
     * @return the policy
     */
    public RetryPolicy attempts(int most) {
        if (most < 1) {
            throw new IllegalArgumentException("attempts must be at least 1: " + most);
        }
        return with(copy -> copy.attempts = most);
    }

    /**
     * Returns a copy with a different deadline.
     *
     * @param time the time from the start of the call after which no retry begins. A running attempt
     *     is not stopped
     * @return the policy
     */
    public RetryPolicy deadline(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("deadline must not be negative: " + time);
        }
        time.toNanos(); // Throws if it exceeds 292 years.
        return with(copy -> copy.deadline = time);
    }

    /**
     * Returns a copy with other delays.
     *
     * @param delays the delays before retries
     * @return the policy
     */
    public RetryPolicy backoff(Backoff delays) {
        Objects.requireNonNull(delays, "delays");
        return with(copy -> copy.backoff = delays);
    }

    /**
     * Returns a copy that declares whether calls are idempotent: a call that takes effect twice has
     * the same effect as a call that takes effect once. Other calls are never repeated when their
     * outcome is unknown.
     *
     * @param is true if all calls are idempotent
     * @return the policy
     */
    public RetryPolicy idempotent(boolean is) {
        return with(copy -> copy.idempotent = is);
    }

    /**
     * Returns a copy with a budget.
     *
     * @param shared the budget; null for no limit
     * @return the policy
     */
    public RetryPolicy budget(@Nullable Budget shared) {
        return with(copy -> copy.budget = shared);
    }

    /**
     * Returns a copy with a listener.
     *
     * @param observer the listener; may be null
     * @return the policy
     */
    public RetryPolicy listener(@Nullable RetryListener observer) {
        return with(copy -> copy.listener = observer);
    }

    /**
     * Returns a copy that also classifies results, such as HTTP responses with the status 503. If
     * the last attempt has a result that is a failure, the call returns this result.
     *
     * @param classifier returns null for a success, and for a result of an unknown type
     * @return the policy
     */
    public RetryPolicy results(Function<@Nullable Object, @Nullable Verdict> classifier) {
        Objects.requireNonNull(classifier, "classifier");
        return with(copy -> copy.results = classifier);
    }

    /**
     * Returns a copy with a different clock, for tests.
     *
     * @param clock the clock
     * @return the policy
     */
    public RetryPolicy timer(Timer clock) {
        Objects.requireNonNull(clock, "clock");
        return with(copy -> copy.timer = clock);
    }

    private RetryPolicy with(Consumer<Settings> change) {
        Settings copy = settings.copy();
        change.accept(copy);
        return new RetryPolicy(copy);
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T call(Work<T, X> work) throws X {
        var attempts =
                new Attempts(
                        settings.deadline, null, settings.budget, settings.listener, settings.timer);
        while (true) {
            T result;
            try {
                result = work.run();
            } catch (Exception failure) {
                if (!goesOn(attempts, failure, verdictOf(failure))) {
                    throw failure;
                }
                continue;
            }
            Verdict verdict = settings.results.apply(result);
            if (verdict == null) {
                attempts.succeed();
                return result;
            } else if (!goesOn(attempts, new FailedResult(result), verdict)) {
                return result;
            }
        }
    }

    private Verdict verdictOf(Exception failure) {
        return failure instanceof GuardException own
                ? own.verdict()
                : settings.classifier.classify(failure);
    }

    private boolean goesOn(Attempts attempts, Exception failure, Verdict verdict) {
        boolean isRetried =
                attempts.number() < settings.attempts
                        && switch (verdict.kind()) {
                            case TRANSIENT -> true;
                            case OUTCOME_UNKNOWN -> settings.idempotent;
                            case PERMANENT -> false;
                        };
        return attempts.next(
                failure, verdict.kind(), isRetried ? settings.backoff : null, verdict.minDelay());
    }
}
