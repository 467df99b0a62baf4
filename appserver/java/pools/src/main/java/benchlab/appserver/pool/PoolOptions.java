// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The hooks and settings of a pool. Each method returns a copy that differs in one setting:
 *
 * <pre>{@code
 * PoolOptions.of(() -> DriverManager.getConnection(url))
 *         .validate(connection -> connection.isValid(1))
 *         .reset(connection -> connection.rollback())
 *         .destroy(Connection::close)
 * }</pre>
 *
 * <p>Hooks run on the thread that leases or returns a resource, without any lock, and never
 * concurrently for one resource. There are two exceptions, which run on a thread of the pool:
 * {@code factory}, {@code validate} and the {@code destroy} after it for a lease with a timeout,
 * and {@code destroy} for a leaked lease. The timeout of a lease does not cover {@code reset} and
 * {@code destroy} when the lease is closed: set a timeout in these hooks if they wait.
 *
 * @param <R> the type of the resources
 * @param factory creates a resource; not null
 * @param validate checks a resource before each lease except the first. If it returns false or
 *     throws, the resource is destroyed and another one is created
 * @param reset prepares a resource for its next user. Called when a lease is closed; if it throws,
 *     the resource is destroyed
 * @param destroy releases a resource. Called once for each resource
 * @param order the order in which idle resources are leased
 * @param recordHoldTime true to measure how long leases are held, which reads the clock twice for
 *     each lease
 */
public record PoolOptions<R>(
        Factory<? extends R> factory,
        @Nullable Check<? super R> validate,
        @Nullable Action<? super R> reset,
        @Nullable Action<? super R> destroy,
        RequestOrder order,
        boolean recordHoldTime) {

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
         * @throws Exception if the resource cannot be used any more
         */
        void apply(R resource) throws Exception;
    }

    /** The order in which idle resources are leased. */
    public enum RequestOrder {
        /** In turn: all resources are used equally, and none is idle for long. */
        ROUND_ROBIN,
        /** Most recently returned first: few resources are in use, and they stay warm in caches. */
        LIFO
    }

    public PoolOptions {
        Objects.requireNonNull(factory, "factory");
        Objects.requireNonNull(order, "order");
    }

    /**
     * Returns options without hooks, in {@link RequestOrder#ROUND_ROBIN} order.
     *
     * @param factory creates a resource
     * @param <R> the type of the resources
     * @return the options
     */
    public static <R> PoolOptions<R> of(Factory<? extends R> factory) {
        return new PoolOptions<>(factory, null, null, null, RequestOrder.ROUND_ROBIN, false);
    }

    /**
     * Returns a copy with another {@code validate} hook.
     *
     * @param hook checks a resource before a lease
     * @return the options
     */
    public PoolOptions<R> validate(Check<? super R> hook) {
        return new PoolOptions<>(factory, hook, reset, destroy, order, recordHoldTime);
    }

    /**
     * Returns a copy with another {@code reset} hook.
     *
     * @param hook prepares a resource for its next user
     * @return the options
     */
    public PoolOptions<R> reset(Action<? super R> hook) {
        return new PoolOptions<>(factory, validate, hook, destroy, order, recordHoldTime);
    }

    /**
     * Returns a copy with another {@code destroy} hook.
     *
     * @param hook releases a resource
     * @return the options
     */
    public PoolOptions<R> destroy(Action<? super R> hook) {
        return new PoolOptions<>(factory, validate, reset, hook, order, recordHoldTime);
    }

    /**
     * Returns a copy with another {@code order}.
     *
     * @param first the order in which idle resources are leased
     * @return the options
     */
    public PoolOptions<R> order(RequestOrder first) {
        return new PoolOptions<>(factory, validate, reset, destroy, first, recordHoldTime);
    }

    /**
     * Returns a copy with another {@code recordHoldTime}.
     *
     * @param measured true to measure how long leases are held
     * @return the options
     */
    public PoolOptions<R> recordHoldTime(boolean measured) {
        return new PoolOptions<>(factory, validate, reset, destroy, order, measured);
    }
}
