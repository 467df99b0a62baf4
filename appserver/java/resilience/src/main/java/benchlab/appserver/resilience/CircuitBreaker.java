// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.time.Duration;
import java.util.BitSet;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Stops calls to a service that fails, so that callers fail immediately and the service can
 * recover.
 *
 * <table>
 *   <caption>States</caption>
 *   <tr><th>state</th><th>calls</th><th>leaves the state when</th></tr>
 *   <tr>
 *     <td>{@link State#CLOSED}</td>
 *     <td>are made</td>
 *     <td>the window has at least {@code minimumCalls} results, and at least the fraction {@code
 *         failureRate} of the last {@code window} results are failures: {@code OPEN}</td>
 *   </tr>
 *   <tr>
 *     <td>{@link State#OPEN}</td>
 *     <td>throw {@link CircuitOpenException}</td>
 *     <td>the first call after {@code openTime}: {@code HALF_OPEN}</td>
 *   </tr>
 *   <tr>
 *     <td>{@link State#HALF_OPEN}</td>
 *     <td>are made, up to {@code trials}; further calls throw {@link CircuitOpenException}</td>
 *     <td>the first trial fails: {@code OPEN}; or all trials have succeeded: {@code CLOSED}, with
 *         no results</td>
 *   </tr>
 * </table>
 *
 * <ul>
 *   <li>Results of calls that began before the last change of state are ignored, because they say
 *       nothing about the current state of the service.
 *   <li>If trials have no result for {@code openTime}, new trials are admitted in their place, so
 *       that a call that hangs does not keep the circuit breaker half open.
 *   <li>An exception that is not recorded is neither a failure nor a success. If a trial ends with
 *       such an exception, another call takes its place as a trial.
 *   <li>No code of the application runs while the internal lock is held.
 * </ul>
 *
 * <p>The states and the window are the same as in Resilience4j's circuit breaker with a count-based
 * window, with one difference. In Resilience4j, the half-open state ends only after all trials, and
 * their failure rate decides.
 */
public final class CircuitBreaker implements Guard {

    private static final System.Logger LOGGER = System.getLogger(CircuitBreaker.class.getName());
    private static final int MAX_WINDOW = 1_000_000;

    private final Options options;
    private final ReentrantLock lock = new ReentrantLock();
    private final BitSet failures; // The window, as a ring buffer.
    private State state = State.CLOSED;
    private long generation; // Incremented with each change of state.
    private int next; // The position in the ring for the next result.
    private int results; // In the window.
    private int failed; // In the window.
    private int admitted; // Trials that are running or have succeeded.
    private int succeeded; // Trials.
    private long since; // The time of the last change of state, or of the last admitted trial.
    private long rejected;
    private long opened;

    /** The states of a circuit breaker. */
    public enum State {
        /** The state in which calls are made, and their results are recorded. */
        CLOSED,
        /** The state in which calls are rejected. */
        OPEN,
        /** The state in which a few calls are made as trials. */
        HALF_OPEN
    }

    /** Observes changes of state. */
    @FunctionalInterface
    public interface Listener {
        /**
         * Called after a change of state, in the thread of the call that caused it. An exception is
         * logged, and does not affect the call.
         *
         * @param from the earlier state
         * @param to the new state
         */
        void onTransition(State from, State to);
    }

    /**
     * The settings of a circuit breaker. Each method returns a copy that differs in one setting.
     *
     * @param window the number of latest results from which the failure rate is computed; 1 to
     *     1,000,000
     * @param minimumCalls the minimum number of results in the window for a failure rate; 1 to
     *     {@code window}
     * @param failureRate the fraction of failures at which the circuit breaker opens; more than 0, at
     *     most 1
     * @param openTime the time for which calls are rejected
     * @param trials the number of calls that must succeed to close the circuit breaker
     * @param isRecorded tests whether an exception indicates a problem of the service. By default,
     *     all exceptions do except rejections by other guards
     * @param listener observes changes of state; may be null
     * @param timer the clock
     */
    public record Options(
            int window,
            int minimumCalls,
            double failureRate,
            Duration openTime,
            int trials,
            Predicate<? super Exception> isRecorded,
            @Nullable Listener listener,
            Timer timer) {

        /**
         * The default settings: the circuit breaker opens for 5 s if half of the last 20 calls have
         * failed, and one trial closes it.
         */
        public static final Options DEFAULT =
                new Options(
                        20,
                        20,
                        0.5,
                        Duration.ofSeconds(5),
                        1,
                        failure -> !(failure instanceof GuardException own && own.isRejection()),
                        null,
                        Timer.SYSTEM);

        public Options {
            if (window < 1 || window > MAX_WINDOW) {
                throw new IllegalArgumentException("expected a window from 1 to " + MAX_WINDOW + ", got " + window);
            } else if (minimumCalls < 1 || minimumCalls > window) {
                throw new IllegalArgumentException(
                        "expected minimumCalls from 1 to the window of " + window + ", got " + minimumCalls);
            } else if (!(failureRate > 0 && failureRate <= 1)) {
                throw new IllegalArgumentException("expected a failureRate above 0 and up to 1, got " + failureRate);
            } else if (openTime.isNegative()) {
                throw new IllegalArgumentException("openTime must not be negative: " + openTime);
            } else if (trials < 1) {
                throw new IllegalArgumentException("trials must be at least 1: " + trials);
            }
            openTime.toNanos(); // Throws if it exceeds 292 years.
            Objects.requireNonNull(isRecorded, "isRecorded");
            Objects.requireNonNull(timer, "timer");
        }

        /**
         * Returns a copy with a different window, which is also the minimum number of results.
         *
         * @param calls the number of results
         * @return the settings
         */
        public Options window(int calls) {
            return new Options(calls, calls, failureRate, openTime, trials, isRecorded, listener, timer);
        }

        /**
         * Returns a copy with a different minimum number of results.
         *
         * @param calls the number of results
         * @return the settings
         */
        public Options minimumCalls(int calls) {
            return new Options(window, calls, failureRate, openTime, trials, isRecorded, listener, timer);
        }

        /**
         * Returns a copy with a different failure rate.
         *
         * @param rate the fraction of failures at which the circuit breaker opens
         * @return the settings
         */
        public Options failureRate(double rate) {
            return new Options(window, minimumCalls, rate, openTime, trials, isRecorded, listener, timer);
        }

        /**
         * Returns a copy with a different time in the open state.
         *
         * @param time the time for which calls are rejected
         * @return the settings
         */
        public Options openTime(Duration time) {
            return new Options(window, minimumCalls, failureRate, time, trials, isRecorded, listener, timer);
        }

        /**
         * Returns a copy with a different number of trials.
         *
         * @param calls the number of calls that must succeed to close the circuit breaker
         * @return the settings
         */
        public Options trials(int calls) {
            return new Options(window, minimumCalls, failureRate, openTime, calls, isRecorded, listener, timer);
        }

        /**
         * Returns a copy that records other exceptions.
         *
         * @param which tests whether an exception indicates a problem of the service
         * @return the settings
         */
        public Options recording(Predicate<? super Exception> which) {
            return new Options(window, minimumCalls, failureRate, openTime, trials, which, listener, timer);
        }

        /**
         * Returns a copy with a listener.
         *
         * @param observer the listener; may be null
         * @return the settings
         */
        public Options listener(@Nullable Listener observer) {
            return new Options(window, minimumCalls, failureRate, openTime, trials, isRecorded, observer, timer);
        }

        /**
         * Returns a copy with a different clock, for tests.
         *
         * @param clock the clock
         * @return the settings
         */
        public Options timer(Timer clock) {
            return new Options(window, minimumCalls, failureRate, openTime, trials, isRecorded, listener, clock);
        }
    }

    /**
     * Statistics of a circuit breaker.
     *
     * @param state the state. An open circuit breaker stays open until a call is admitted as a trial
     * @param results the number of results in the window
     * @param failures the number of failures in the window
     * @param rejected the number of calls that were rejected
     * @param opened the number of times that the circuit breaker opened
     */
    public record Statistics(State state, int results, int failures, long rejected, long opened) {}

    /**
     * Creates a circuit breaker that is closed.
     *
     * @param options the settings
     */
    public CircuitBreaker(Options options) {
        this.options = options;
        failures = new BitSet(options.window);
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T call(Work<T, X> work) throws X {
        long begun = admit();
        T result;
        try {
            result = work.run();
        } catch (Exception failure) {
            end(begun, isRecorded(begun, failure) ? Result.FAILURE : Result.NONE);
            throw failure;
        } catch (Throwable error) {
            end(begun, Result.NONE);
            throw error;
        }
        end(begun, Result.SUCCESS);
        return result;
    }

    /**
     * Returns the statistics.
     *
     * @return the statistics
     */
    public Statistics statistics() {
        lock.lock();
        try {
            return new Statistics(state, results, failed, rejected, opened);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the state. A circuit breaker whose {@code openTime} has passed is still {@link
     * State#OPEN} until the next call, which is a trial.
     *
     * @return the state
     */
    public State state() {
        return statistics().state;
    }

    /** Closes the circuit breaker, without results, as if it were new. */
    public void reset() {
        State from;
        lock.lock();
        try {
            from = state;
            enter(State.CLOSED);
        } finally {
            lock.unlock();
        }
        tell(from, State.CLOSED);
    }

    private enum Result {
        SUCCESS,
        FAILURE,
        NONE
    }

    /**
     * Tests whether an exception is recorded. If the application's predicate throws, this method
     * ends the call, because a trial must not be left without a result.
     */
    private boolean isRecorded(long begun, Exception failure) {
        try {
            return options.isRecorded.test(failure);
        } catch (Throwable e) {
            end(begun, Result.NONE);
            throw e;
        }
    }

    /**
     * Admits a call, or throws a {@link CircuitOpenException}. Returns the generation of the call.
     */
    private long admit() {
        State from;
        State to;
        long begun;
        lock.lock();
        try {
            from = state;
            if (state != State.CLOSED) {
                admitTrial();
            }
            to = state;
            begun = generation;
        } finally {
            lock.unlock();
        }
        tell(from, to);
        return begun;
    }

    private void admitTrial() {
        long now = options.timer.nanoTime();
        long left = options.openTime.toNanos() - (now - since);
        if (state == State.OPEN) {
            if (left > 0) {
                throw reject(left);
            }
            enter(State.HALF_OPEN);
        } else if (admitted >= options.trials) {
            if (left > 0) {
                throw reject(0);
            }
            enter(State.HALF_OPEN); // The trials hang.
        }
        admitted++;
        since = now;
    }

    private CircuitOpenException reject(long nanos) {
        rejected++;
        return new CircuitOpenException(Duration.ofNanos(nanos));
    }

    private void end(long begun, Result result) {
        State from;
        State to;
        lock.lock();
        try {
            if (begun != generation) {
                return;
            }
            from = state;
            if (state == State.CLOSED) {
                record(result);
            } else {
                endTrial(result);
            }
            to = state;
        } finally {
            lock.unlock();
        }
        tell(from, to);
    }

    private void record(Result result) {
        if (result == Result.NONE) {
            return;
        }
        if (results < options.window) {
            results++;
        } else if (failures.get(next)) {
            failed--;
        }
        boolean isFailure = result == Result.FAILURE;
        failures.set(next, isFailure);
        failed += isFailure ? 1 : 0;
        next = (next + 1) % options.window;
        // The quotient equals a rate such as 0.55, because both are rounded to the nearest number.
        if (results >= options.minimumCalls && failed / (double) results >= options.failureRate) {
            enter(State.OPEN);
        }
    }

    private void endTrial(Result result) {
        switch (result) {
            case NONE -> admitted--;
            case FAILURE -> enter(State.OPEN);
            case SUCCESS -> {
                succeeded++;
                if (succeeded >= options.trials) {
                    enter(State.CLOSED);
                }
            }
        }
    }

    private void enter(State to) {
        generation++;
        state = to;
        since = options.timer.nanoTime();
        admitted = 0;
        succeeded = 0;
        if (to == State.OPEN) {
            opened++;
        } else if (to == State.CLOSED) {
            failures.clear();
            next = 0;
            results = 0;
            failed = 0;
        }
    }

    private void tell(State from, State to) {
        if (from == to || options.listener == null) {
            return;
        }
        try {
            options.listener.onTransition(from, to);
        } catch (RuntimeException e) {
            LOGGER.log(System.Logger.Level.WARNING, "a listener of a circuit breaker failed", e);
        }
    }
}
