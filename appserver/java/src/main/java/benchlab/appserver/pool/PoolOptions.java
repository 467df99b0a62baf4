// SPDX-License-Identifier: Apache-2.0
// How a pool makes, checks, resets and destroys its resources.
package benchlab.appserver.pool;

import java.util.Objects;

/**
 * How a pool treats its resources. Each method returns options that differ in one thing:
 *
 * <pre>{@code
 * PoolOptions.of(() -> DriverManager.getConnection(url))
 *         .validate(connection -> connection.isValid(1))
 *         .reset(connection -> connection.rollback())
 *         .destroy(Connection::close)
 * }</pre>
 *
 * <p>The hooks run on the thread that leases or gives back, without any lock, and never two at once
 * for one resource. On a thread of the pool's run {@code factory} and {@code validate}, and the
 * {@code destroy} after it, for a lease with a timeout, and {@code destroy} for a lost lease. The
 * timeout of a lease is not for {@code reset} and {@code destroy} when it is closed: let them have
 * a limit of their own if they wait.
 *
 * @param factory makes a resource; not null
 * @param validate whether an idle resource can still be used. Asked before each lease of a resource
 *     that was used before; if it says no or throws, the resource is destroyed and another one is
 *     made
 * @param reset makes a resource ready for its next user. Called when a lease is closed; if it
 *     throws, the resource is destroyed
 * @param destroy releases what a resource holds. Called once for each resource
 * @param order which idle resource is used first
 * @param recordHoldTime whether the time that leases are held is measured: two readings of the clock for
 *     each
 */
public record PoolOptions<R>(
        Factory<? extends R> factory,
        Check<? super R> validate,
        Action<? super R> reset,
        Action<? super R> destroy,
        RequestOrder order,
        boolean recordHoldTime) {

    /** Makes a resource. */
    @FunctionalInterface
    public interface Factory<R> {
        R make() throws Exception;
    }

    /** Says whether a resource can be used. */
    @FunctionalInterface
    public interface Check<R> {
        boolean isValid(R resource) throws Exception;
    }

    /** Does something to a resource. */
    @FunctionalInterface
    public interface Action<R> {
        void apply(R resource) throws Exception;
    }

    /** Which idle resource is used first. */
    public enum RequestOrder {
        /** In turn: all are used alike, and none is idle for long. */
        ROUND_ROBIN,
        /**
         * The one given back last, else the one made first: few are used, and stay warm in caches.
         */
        LIFO
    }

    public PoolOptions {
        Objects.requireNonNull(factory, "factory");
        Objects.requireNonNull(order, "order");
    }

    /** Without hooks, idle resources in turn, uses not timed. */
    public static <R> PoolOptions<R> of(Factory<? extends R> factory) {
        return new PoolOptions<>(factory, null, null, null, RequestOrder.ROUND_ROBIN, false);
    }

    public PoolOptions<R> validate(Check<? super R> hook) {
        return new PoolOptions<>(factory, hook, reset, destroy, order, recordHoldTime);
    }

    public PoolOptions<R> reset(Action<? super R> hook) {
        return new PoolOptions<>(factory, validate, hook, destroy, order, recordHoldTime);
    }

    public PoolOptions<R> destroy(Action<? super R> hook) {
        return new PoolOptions<>(factory, validate, reset, hook, order, recordHoldTime);
    }

    public PoolOptions<R> order(RequestOrder first) {
        return new PoolOptions<>(factory, validate, reset, destroy, first, recordHoldTime);
    }

    public PoolOptions<R> recordHoldTime(boolean measured) {
        return new PoolOptions<>(factory, validate, reset, destroy, order, measured);
    }
}
