// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The hooks and settings of a pool. Immutable: each method returns a copy that differs in one setting:
 *
 * <pre>{@code
 * PoolOptions.of(() -> DriverManager.getConnection(url))
 *         .validate(connection -> connection.isValid(1))
 *         .reset(connection -> connection.rollback())
 *         .destroy(Connection::close)
 *         .maxLifetime(Duration.ofMinutes(30))
 * }</pre>
 *
 * <p>Hooks run on the thread that leases or returns a resource, without any lock, and never
 * concurrently for one resource. There are two exceptions. For a lease with a timeout, {@code
 * factory}, {@code validate} and the {@code destroy} of an invalid resource run on a thread of the
 * pool. The hooks of the pool's own maintenance run there, too: they create resources for {@link
 * #minIdle}, check resources for {@link #keepAlive}, and destroy idle or leaked resources. The
 * timeout of a lease does not cover {@code reset} and {@code destroy} when the lease is closed: set
 * a timeout in these hooks if they may block.
 *
 * @param <R> the type of the resources
 */
public final class PoolOptions<R> implements Cloneable {

    private static final Duration MAX_TIME = Duration.ofDays(36_500);

    final Factory<? extends R> factory;
    @Nullable Check<? super R> validate;
    @Nullable Action<? super R> reset;
    @Nullable Action<? super R> destroy;
    RequestOrder order = RequestOrder.ROUND_ROBIN;
    boolean recordHoldTime;
    int minIdle;
    @Nullable Duration idleTimeout;
    @Nullable Duration maxLifetime;
    @Nullable Duration keepAlive;
    @Nullable Duration leakThreshold;
    @Nullable Consumer<? super LeakReport> leakListener;

    /**
     * Creates resources.
     *
     * @param <R> the type of the resources
     */
    @FunctionalInterface
    public interface Factory<R> {
        /**
         * Creates a resource.
         *
         * @return the resource
         * @throws Exception if the resource cannot be created
         */
        R make() throws Exception;
    }

    /**
     * Checks resources.
     *
     * @param <R> the type of the resources
     */
    @FunctionalInterface
    public interface Check<R> {
        /**
         * Checks a resource.
         *
         * @param resource the resource
         * @return true if the resource can be used
         * @throws Exception if the resource cannot be used
         */
        boolean isValid(R resource) throws Exception;
    }

    /**
     * Resets or destroys resources.
     *
     * @param <R> the type of the resources
     */
    @FunctionalInterface
    public interface Action<R> {
        /**
         * Applies the action to a resource.
         *
         * @param resource the resource
         * @throws Exception if the resource can no longer be used
         */
        void apply(R resource) throws Exception;
    }

    /** The order in which idle resources are leased. */
    public enum RequestOrder {
        /** Leases the resources in turn: all are used equally, and none is idle for long. */
        ROUND_ROBIN,
        /**
         * Leases the most recently returned resource first: few resources are in use, and they stay
         * warm in caches.
         */
        LIFO
    }

    private PoolOptions(Factory<? extends R> factory) {
        this.factory = Objects.requireNonNull(factory, "factory");
    }

    /**
     * Returns options with {@code factory}, {@link RequestOrder#ROUND_ROBIN}, no other hooks, and
     * no limits.
     *
     * @param factory creates a resource
     * @param <R> the type of the resources
     * @return the options
     */
    public static <R> PoolOptions<R> of(Factory<? extends R> factory) {
        return new PoolOptions<>(factory);
    }

    /**
     * Sets the check of a resource before each lease except the first. If the hook returns false or
     * throws, the pool destroys the resource and creates another one.
     *
     * @param hook checks a resource
     * @return the options
     */
    public PoolOptions<R> validate(Check<? super R> hook) {
        PoolOptions<R> copy = copy();
        copy.validate = Objects.requireNonNull(hook, "validate");
        return copy;
    }

    /**
     * Sets the hook that prepares a resource for its next user. It is called when a lease is closed; if
     * it throws, the resource is destroyed.
     *
     * @param hook prepares a resource
     * @return the options
     */
    public PoolOptions<R> reset(Action<? super R> hook) {
        PoolOptions<R> copy = copy();
        copy.reset = Objects.requireNonNull(hook, "reset");
        return copy;
    }

    /**
     * Sets the hook that releases a resource. It is called once for each resource.
     *
     * @param hook releases a resource
     * @return the options
     */
    public PoolOptions<R> destroy(Action<? super R> hook) {
        PoolOptions<R> copy = copy();
        copy.destroy = Objects.requireNonNull(hook, "destroy");
        return copy;
    }

    /**
     * Sets the order in which idle resources are leased. With {@link #idleTimeout}, use {@link
     * RequestOrder#LIFO}: otherwise the load keeps every resource in use.
     *
     * @param first the order
     * @return the options
     */
    public PoolOptions<R> order(RequestOrder first) {
        PoolOptions<R> copy = copy();
        copy.order = Objects.requireNonNull(first, "order");
        return copy;
    }

    /**
     * Sets whether {@link PoolStatistics#holdTime} is measured, which reads the clock twice for each
     * lease.
     *
     * @param measured true to measure how long leases are held
     * @return the options
     */
    public PoolOptions<R> recordHoldTime(boolean measured) {
        PoolOptions<R> copy = copy();
        copy.recordHoldTime = measured;
        return copy;
    }

    /**
     * Sets the number of idle resources that the pool keeps ready, as far as its capacity allows.
     * The pool creates these resources on a thread of its own, and replaces destroyed resources. If
     * the factory fails, the pool tries again after a pause, which doubles up to 10 seconds.
     *
     * @param resources the number of resources, 0 by default
     * @return the options
     */
    public PoolOptions<R> minIdle(int resources) {
        if (resources < 0) {
            throw new IllegalArgumentException("minIdle must not be negative: " + resources);
        }
        PoolOptions<R> copy = copy();
        copy.minIdle = resources;
        return copy;
    }

    /**
     * Sets the time after which an idle resource is destroyed, if more than {@link #minIdle}
     * resources are idle.
     *
     * @param time more than 0, at most 100 years; null for never, which is the default
     * @return the options
     */
    public PoolOptions<R> idleTimeout(@Nullable Duration time) {
        PoolOptions<R> copy = copy();
        copy.idleTimeout = checked("idleTimeout", time);
        return copy;
    }

    /**
     * Sets the age at which a resource is destroyed. A leased resource is destroyed when it is
     * returned. The lifetime of each resource is shortened by a random amount of up to a quarter,
     * so that resources that were created together are not destroyed together. Set it below the
     * time after which the server or a proxy closes connections.
     *
     * @param time more than 0, at most 100 years; null for no limit, which is the default
     * @return the options
     */
    public PoolOptions<R> maxLifetime(@Nullable Duration time) {
        PoolOptions<R> copy = copy();
        copy.maxLifetime = checked("maxLifetime", time);
        return copy;
    }

    /**
     * Sets the time after which an idle resource is checked with {@link #validate}, so that neither
     * a server nor a firewall closes it as unused. An invalid resource is destroyed. One resource
     * is checked at a time, and cannot be leased meanwhile. A check does not restart the idle time.
     *
     * @param time more than 0, less than {@link #maxLifetime}; null for never, which is the default
     * @return the options
     */
    public PoolOptions<R> keepAlive(@Nullable Duration time) {
        PoolOptions<R> copy = copy();
        copy.keepAlive = checked("keepAlive", time);
        return copy;
    }

    /**
     * Sets the time after which a lease is reported as a possible leak, once and without ending it.
     * Each lease then records its stack trace, which takes microseconds.
     *
     * @param time more than 0, at most 100 years; null for never, which is the default
     * @return the options
     */
    public PoolOptions<R> leakThreshold(@Nullable Duration time) {
        PoolOptions<R> copy = copy();
        copy.leakThreshold = checked("leakThreshold", time);
        return copy;
    }

    /**
     * Sets the listener that is called, on a thread of the pool, for each lease that is held for longer
     * than {@link #leakThreshold}. By default, the report is logged as a warning, with the stack trace.
     *
     * @param listener the listener; null for the default
     * @return the options
     */
    public PoolOptions<R> leakListener(@Nullable Consumer<? super LeakReport> listener) {
        PoolOptions<R> copy = copy();
        copy.leakListener = listener;
        return copy;
    }

    /** Checks the settings that depend on each other. */
    void check() {
        if (keepAlive != null) {
            if (validate == null) {
                throw new IllegalArgumentException("keepAlive requires a validate hook");
            }
            if (maxLifetime != null && keepAlive.compareTo(maxLifetime) >= 0) {
                throw new IllegalArgumentException(
                        "keepAlive must be less than the maxLifetime of "
                                + maxLifetime
                                + ": "
                                + keepAlive);
            }
        }
        if (leakListener != null && leakThreshold == null) {
            throw new IllegalArgumentException("leakListener requires leakThreshold");
        }
    }

    @SuppressWarnings("unchecked") // A clone has the same type.
    private PoolOptions<R> copy() {
        try {
            return (PoolOptions<R>) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    private static @Nullable Duration checked(String name, @Nullable Duration time) {
        if (time != null
                && (time.isNegative() || time.isZero() || time.compareTo(MAX_TIME) > 0)) {
            throw new IllegalArgumentException(
                    name + " must be more than 0 and at most 100 years: " + time);
        }
        return time;
    }
}
