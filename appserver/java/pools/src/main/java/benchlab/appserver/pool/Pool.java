// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A bounded pool of resources. It creates a resource on demand when none is idle. {@link
 * PoolOptions} lets it keep idle resources ready, and limits how long a resource lives, is idle or
 * is held.
 *
 * <ul>
 *   <li>Waiting threads are served in the order of their calls.
 *   <li>No resource is ever leased to two holders at the same time, or used after it was destroyed.
 *   <li>Closing a lease twice, or using a closed lease, throws an {@link IllegalStateException}.
 *   <li>Use try-with-resources to return leases. The garbage collector detects leaked leases, and
 *       their resources are destroyed ({@link Lease}).
 *   <li>Without contention, leasing and returning take no lock. Each executes one atomic
 *       instruction; returning with a {@code reset} hook executes two.
 *   <li>A virtual thread that waits, for a resource or for a hook that runs on a thread of the pool,
 *       occupies no carrier thread.
 * </ul>
 *
 * <p>Hooks run with the context class loader of the thread whose lease they serve, and those that
 * serve no lease with the context class loader of the thread that created the pool.
 *
 * <p>A thread that holds a lease and waits for a second one can deadlock with itself: use a
 * timeout.
 *
 * @param <R> the type of the resources
 */
public final class Pool<R> implements AutoCloseable {

    private static final System.Logger LOGGER = System.getLogger(Pool.class.getName());
    private static final long FOREVER = Long.MAX_VALUE;
    private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * Threads that run hooks for leases with a timeout and for maintenance, shared by all pools. They
     * are not virtual: a driver that holds a monitor while it waits would pin carrier threads.
     */
    private static final ExecutorService HELPERS = Executors.newCachedThreadPool(Pool::helper);

    private final PoolOptions<R> options;
    private final Slots<R> slots;
    private final Executor helpers;

    /** The context class loader for hooks that no caller runs or waits for. */
    private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader();

    /** True if closing a lease runs a hook or reads the clock. */
    private final boolean hasWorkAtEnd;

    /**
     * True if a thread waits or the pool has too many resources. Threads then do not use the
     * lock-free path. A waiting thread sets this flag and then looks for idle slots; a thread that
     * frees a slot reads the flag afterwards. The flag and the slots' states are volatile, so at
     * least one of the two threads sees the other's write (the store-buffering pattern).
     */
    private volatile boolean attention;

    /** The number of calls to {@link #softEvict}. A slot of an earlier generation is evicted. */
    private volatile int generation;

    /** True while a thread checks idle resources, or creates resources for {@code minIdle}. */
    private volatile boolean isKeepingAlive;

    private volatile boolean isFilling;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition empty = lock.newCondition();

    // Guarded by the lock.
    private final ArrayDeque<Waiter<R>> waiters = new ArrayDeque<>();
    private int capacity;
    private boolean closed;
    private int making;
    private int leaving; // Resources removed from the slots but not yet destroyed.
    private boolean mayHaveEvicted; // A slot of an earlier generation may exist.
    private long fillPause = MIN_PAUSE_NANOS;
    private long nextFill = System.nanoTime();

    // Statistics, guarded by the lock. Each slot has the statistics of its own leases.
    private int maxSize;
    private long closedSlotLeases;
    private long closedSlotHeldNanos;
    private long waits;
    private long waited;
    private long maxWait;
    private long timeouts;
    private long madeCount;
    private long creationTime;
    private long maxCreationTime;
    private long factoryFailures;
    private final long[] ends = new long[End.values().length];
    private long keepAlives;
    private long leaks;

    /** The reason for destroying a resource. */
    private enum End {
        BROKEN,
        RECLAIMED,
        EXPIRED,
        IDLE,
        EVICTED,
        SURPLUS
    }

    /**
     * A thread that waits for a lease. The pool gives it a slot or the permission to create a slot,
     * or rejects it.
     */
    private static final class Waiter<R> {
        private final Thread thread = Thread.currentThread();
        private final long since = System.nanoTime();
        private @Nullable Slot<R> slot;
        private boolean refused;
        private volatile boolean served;
    }

    /**
     * Creates an empty pool.
     *
     * @param capacity the maximum number of resources, at least 1
     * @param options the hooks and settings
     */
    public Pool(int capacity, PoolOptions<R> options) {
        this(capacity, options, HELPERS);
    }

    /** Creates an empty pool that runs its hooks with another executor. */
    Pool(int capacity, PoolOptions<R> options, Executor helpers) {
        this.helpers = helpers;
        this.options = Objects.requireNonNull(options, "options");
        options.check();
        this.capacity = checked(capacity);
        slots = new Slots<>(options.order);
        hasWorkAtEnd =
                options.reset != null
                        || options.recordHoldTime
                        || options.maxLifetime != null
                        || options.leakThreshold != null;
        Maintenance.start(this, options);
    }

    /**
     * Creates the first resource, so that an application that cannot reach its server fails when it
     * starts. Without this call, a pool does not fail before its first lease. If the factory fails,
     * the call tries again until the timeout. A failed start leaves the pool open: close it if you
     * do not need it.
     *
     * @param timeout the maximum time. If it is zero or negative, there is one attempt, without a time
     *     limit
     * @throws ResourceException if the factory failed
     * @throws TimeoutException if the factory did not return in time
     * @throws PoolClosedException if the pool is closed
     * @throws InterruptedException if the thread is interrupted while waiting
     */
    public void start(Duration timeout) throws InterruptedException, TimeoutException {
        long time = TimeUnit.NANOSECONDS.convert(timeout);
        long start = System.nanoTime();
        long pause = MIN_PAUSE_NANOS;
        while (true) {
            long passed = System.nanoTime() - start;
            try {
                lease(time <= 0 ? 0 : Math.max(1, time - passed)).close();
                return;
            } catch (ResourceException e) {
                if (System.nanoTime() - start + pause >= time) {
                    throw e;
                }
                TimeUnit.NANOSECONDS.sleep(pause);
                pause = Math.min(2 * pause, MAX_PAUSE_NANOS);
            }
        }
    }

    /**
     * Leases a resource, waiting without a timeout.
     *
     * @return the lease
     * @throws PoolClosedException if the pool is closed, or is closed during the call
     * @throws ResourceException if a resource could not be created
     * @throws InterruptedException if the thread is interrupted while waiting
     */
    public Lease<R> lease() throws InterruptedException {
        try {
            return lease(FOREVER);
        } catch (TimeoutException e) {
            throw new AssertionError("292 years have passed", e);
        }
    }

    /**
     * Leases a resource, waiting at most for a timeout.
     *
     * <p>Hooks run on a thread of the pool. A factory that takes too long continues, and a later lease
     * gets its resource. Until then it counts as a resource, so the factory should have a timeout of
     * its own. If validating a resource takes longer than half of the remaining time, the other half
     * is used for another resource.
     *
     * @param timeout the maximum time to wait for other threads, to validate a resource and to create
     *     a resource. If it is zero or negative, the call does not wait for other threads, and hooks
     *     have no time limit
     * @return the lease
     * @throws TimeoutException if no resource was available in time
     * @throws PoolClosedException if the pool is closed, or is closed during the call
     * @throws ResourceException if a resource could not be created
     * @throws InterruptedException if the thread is interrupted while waiting
     */
    public Lease<R> lease(Duration timeout) throws InterruptedException, TimeoutException {
        return lease(TimeUnit.NANOSECONDS.convert(timeout));
    }

    /**
     * Leases a resource without waiting for other threads.
     *
     * @return the lease; empty if all resources are in use
     * @throws PoolClosedException if the pool is closed
     * @throws ResourceException if a resource could not be created
     */
    public Optional<Lease<R>> tryLease() {
        Slot<R> slot = idleSlot();
        if (slot == null) {
            Waiter<R> waiter = queue();
            if (!waiter.served && withdraw(waiter, () -> {})) {
                return Optional.empty();
            }
            slot = slotOf(waiter);
        }
        return Optional.of(start(slot == null ? make() : valid(slot)));
    }

    /**
     * Changes the maximum number of resources. If the pool has more resources, it destroys idle
     * resources immediately, and leased resources when they are returned. Until then no thread gets
     * a lease.
     *
     * @param capacity the maximum number, at least 1
     * @throws PoolClosedException if the pool is closed
     */
    public void resize(int capacity) {
        checked(capacity);
        change(
                () -> {
                    if (closed) {
                        throw new PoolClosedException();
                    }
                    this.capacity = capacity;
                });
    }

    /**
     * Replaces all current resources, for example after a failover of the server or a change of its
     * password: the pool destroys idle resources immediately, and leased resources when they are
     * returned. No later lease gets a replaced resource.
     */
    public void softEvict() {
        change(
                () -> {
                    generation++;
                    mayHaveEvicted = true;
                });
    }

    /**
     * Closes the pool. Waiting and later calls fail, and idle resources are destroyed. Leased
     * resources are destroyed when they are returned; {@link #awaitTermination} waits for that. A
     * call that has already obtained a resource still returns its lease. Closing the pool again has
     * no effect.
     */
    @Override
    public void close() {
        List<Waiter<R>> refused = new ArrayList<>();
        change(
                () -> {
                    closed = true;
                    capacity = 0;
                    refused.addAll(waiters);
                    waiters.clear();
                    for (Waiter<R> waiter : refused) {
                        waiter.refused = true;
                        waiter.served = true;
                    }
                });
        refused.forEach(waiter -> LockSupport.unpark(waiter.thread));
    }

    /**
     * Waits until the pool is closed and all its resources are destroyed.
     *
     * @param timeout the maximum time to wait
     * @return true if all resources were destroyed in time
     * @throws InterruptedException if the thread is interrupted
     */
    public boolean awaitTermination(Duration timeout) throws InterruptedException {
        long remaining = TimeUnit.NANOSECONDS.convert(timeout);
        lock.lockInterruptibly();
        try {
            while (!isTerminated()) {
                if (remaining <= 0) {
                    return false;
                }
                remaining = empty.awaitNanos(remaining);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns statistics. Holds the lock for a time proportional to the size of the pool.
     *
     * @return the statistics
     */
    public PoolStatistics statistics() {
        lock.lock();
        try {
            long leases = closedSlotLeases;
            long used = closedSlotHeldNanos;
            int inUse = 0;
            for (Slot<R> slot : slots.all()) {
                leases += slot.leases();
                used += slot.used();
                inUse += slot.isLeased() ? 1 : 0;
            }
            return new PoolStatistics(
                    capacity,
                    size(),
                    inUse,
                    waiters.size(),
                    maxSize,
                    leases,
                    waits,
                    Duration.ofNanos(waited),
                    Duration.ofNanos(maxWait),
                    timeouts,
                    madeCount,
                    Duration.ofNanos(creationTime),
                    Duration.ofNanos(maxCreationTime),
                    factoryFailures,
                    ends[End.BROKEN.ordinal()],
                    ends[End.RECLAIMED.ordinal()],
                    ends[End.EXPIRED.ordinal()],
                    ends[End.IDLE.ordinal()],
                    ends[End.EVICTED.ordinal()],
                    keepAlives,
                    leaks,
                    Duration.ofNanos(used));
        } finally {
            lock.unlock();
        }
    }

    private Lease<R> lease(long timeout) throws InterruptedException, TimeoutException {
        Slot<R> slot = idleSlot();
        if (timeout <= 0 || timeout == FOREVER) {
            slot = slot != null ? slot : waitForSlot(Math.max(0, timeout));
            return start(slot == null ? make() : valid(slot));
        }
        if (slot != null && !isChecked(slot)) {
            return start(slot); // Without reading the clock.
        }
        return start(validBy(System.nanoTime() + timeout, slot));
    }

    /** Returns the first slot that can be validated in time, starting with {@code slot}, or a new slot. */
    private Slot<R> validBy(long deadline, @Nullable Slot<R> slot)
            throws InterruptedException, TimeoutException {
        Slot<R> next = slot != null ? slot : waitForSlot(deadline - System.nanoTime());
        while (next != null && isChecked(next)) {
            try {
                Optional<End> end = check(next, (deadline - System.nanoTime()) / 2);
                if (end.isEmpty()) {
                    return next;
                }
                replace(next, end.get());
                next = null;
            } catch (TimeoutException e) { // The check continues and may free the slot in time.
                next = waitForSlot(deadline - System.nanoTime());
            }
        }
        return next != null ? next : makeBy(deadline);
    }

    /** Returns an idle slot; null if there is none, or if another thread must be served first. */
    private @Nullable Slot<R> idleSlot() {
        return attention ? null : slots.takeIdle();
    }

    private @Nullable Slot<R> waitForSlot(long timeout)
            throws InterruptedException, TimeoutException {
        Waiter<R> waiter = queue();
        while (!waiter.served) {
            if (Thread.interrupted()) {
                if (withdraw(waiter, () -> waits++)) {
                    throw new InterruptedException();
                }
                waiter.thread.interrupt(); // It was served, so the interrupt is left for its next blocking call.
            } else if (timeout == FOREVER) {
                LockSupport.park(this);
            } else {
                long remaining = timeout - (System.nanoTime() - waiter.since);
                if (remaining > 0) {
                    LockSupport.parkNanos(this, remaining);
                } else if (withdraw(waiter, this::countTimeout)) {
                    throw new TimeoutException("no resource became available in time");
                }
            }
        }
        return slotOf(waiter);
    }

    private Waiter<R> queue() {
        var waiter = new Waiter<R>();
        change(
                () -> {
                    if (closed) {
                        throw new PoolClosedException();
                    }
                    waiters.add(waiter);
                });
        return waiter;
    }

    /**
     * Removes a waiter from the queue and counts the event; returns false if it was already served.
     */
    private boolean withdraw(Waiter<R> waiter, Runnable count) {
        lock.lock();
        try {
            if (!waiters.remove(waiter)) {
                return false;
            }
            count.run();
            attention = isAttentionNeeded();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the slot of a served thread; null if the thread should create a slot, which is
     * already counted as being created.
     */
    private @Nullable Slot<R> slotOf(Waiter<R> served) {
        if (served.refused) {
            throw new PoolClosedException();
        }
        return served.slot;
    }

    /** Creates a slot that is already counted as being created. */
    private Slot<R> make() {
        Slot<R> slot;
        int current = generation;
        long start = System.nanoTime();
        try {
            R resource = options.factory.make();
            slot =
                    new Slot<>(
                            this,
                            Objects.requireNonNull(resource, "the factory returned null"),
                            current,
                            lifetime(options.maxLifetime));
        } catch (Throwable e) {
            countFailure();
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            if (e instanceof Error error) {
                throw error;
            }
            throw new ResourceException(e);
        }
        Slot<R> added = slot;
        long time = System.nanoTime() - start;
        change(
                () -> {
                    making--;
                    madeCount++;
                    creationTime += time;
                    maxCreationTime = Math.max(maxCreationTime, time);
                    slots.add(added);
                });
        return slot;
    }

    /** Returns the lifetime of a new resource in ns, at random up to a quarter shorter than the limit. */
    static long lifetime(@Nullable Duration limit) {
        if (limit == null) {
            return FOREVER;
        }
        long longest = limit.toNanos();
        return longest - ThreadLocalRandom.current().nextLong(longest / 4 + 1);
    }

    private void countFailure() {
        change(
                () -> {
                    making--;
                    factoryFailures++;
                });
    }

    private Lease<R> start(Slot<R> slot) {
        try {
            if (options.recordHoldTime) {
                slot.startTimer();
            }
            if (options.leakThreshold != null) {
                slot.setOrigin(new LeaseOrigin());
            }
            return slot.lease();
        } catch (Throwable e) { // Out of memory.
            free(slot);
            throw e;
        }
    }

    private boolean isChecked(Slot<R> slot) {
        return options.validate != null && slot.leases() > 0 || isStale(slot);
    }

    private boolean isStale(Slot<R> slot) {
        return slot.isOlderThan(generation) || slot.isExpired();
    }

    /** Returns the reason for destroying the resource of a slot; null if it can still be used. */
    private @Nullable End endOf(Slot<R> slot) {
        if (slot.isOlderThan(generation)) {
            return End.EVICTED;
        } else if (slot.isExpired()) {
            return End.EXPIRED;
        } else {
            return isValid(slot) ? null : End.BROKEN;
        }
    }

    private Slot<R> valid(Slot<R> slot) {
        End end = isChecked(slot) ? endOf(slot) : null;
        if (end == null) {
            return slot;
        }
        destroy(slot);
        replace(slot, end);
        return make();
    }

    /** Replaces an invalid slot, whose capacity is reserved for the new slot. */
    private void replace(Slot<R> invalid, End end) {
        change(
                () -> {
                    forget(invalid, end);
                    making++;
                });
    }

    /**
     * Validates a slot and destroys an invalid resource. Returns the reason if the resource is
     * invalid.
     */
    private Optional<End> check(Slot<R> slot, long timeout)
            throws InterruptedException, TimeoutException {
        var answer = new CompletableFuture<Optional<End>>();
        onHelper(() -> check(slot, answer), () -> free(slot));
        return await(answer, timeout);
    }

    private void check(Slot<R> slot, CompletableFuture<Optional<End>> answer) {
        End end = endOf(slot);
        if (end != null) {
            destroy(slot);
        }
        if (!answer.complete(Optional.ofNullable(end))) { // The caller has timed out.
            if (end == null) {
                free(slot);
            } else {
                change(() -> forget(slot, end));
            }
        }
    }

    private Slot<R> makeBy(long deadline) throws InterruptedException, TimeoutException {
        var made = new CompletableFuture<Slot<R>>();
        onHelper(() -> make(made), this::countFailure);
        try {
            return await(made, deadline - System.nanoTime());
        } catch (TimeoutException e) {
            change(() -> timeouts++);
            throw new TimeoutException("the factory did not create a resource in time");
        }
    }

    private void make(CompletableFuture<Slot<R>> made) {
        try {
            Slot<R> slot = make();
            if (!made.complete(slot)) {
                free(slot);
            }
        } catch (Throwable e) {
            if (!made.completeExceptionally(e)) {
                LOGGER.log(
                        System.Logger.Level.WARNING,
                        "the factory failed after its lease had timed out or been interrupted",
                        e);
            }
        }
    }

    /** Waits for the result. If this method throws, the result can no longer be completed. */
    static <T> T await(CompletableFuture<T> result, long timeout)
            throws InterruptedException, TimeoutException {
        try {
            return result.get(timeout, TimeUnit.NANOSECONDS);
        } catch (TimeoutException | InterruptedException e) {
            if (result.cancel(false)) {
                throw e;
            }
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt(); // For the next blocking call.
            }
            return completed(result);
        } catch (ExecutionException e) {
            throw unchecked(e.getCause());
        }
    }

    private static <T> T completed(CompletableFuture<T> result) {
        try {
            return result.join();
        } catch (CompletionException e) {
            throw unchecked(e.getCause());
        }
    }

    private static RuntimeException unchecked(@Nullable Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return (RuntimeException) Objects.requireNonNull(failure);
    }

    /** Runs work on a helper thread, with the context class loader of this thread. */
    private void onHelper(Runnable work, Runnable onFailure) {
        ClassLoader callers = Thread.currentThread().getContextClassLoader();
        try {
            helpers.execute(
                    () -> {
                        try {
                            withLoader(callers, work);
                        } finally {
                            Thread.interrupted();
                        }
                    });
        } catch (Throwable e) { // No thread or no memory is available.
            onFailure.run();
            throw e;
        }
    }

    private static void withLoader(@Nullable ClassLoader loader, Runnable work) {
        Thread thread = Thread.currentThread();
        thread.setContextClassLoader(loader);
        try {
            work.run();
        } finally {
            thread.setContextClassLoader(null);
        }
    }

    private static Thread helper(Runnable work) {
        var thread = new Thread(null, work, "pool-helper", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        return thread;
    }

    /** Ends a lease; returns false if it has already ended. */
    boolean takeBack(Slot<R> slot, long leased, Slot.Token token, boolean isBroken) {
        if (hasWorkAtEnd || isBroken) {
            if (!slot.takeFrom(leased, token)) {
                return false;
            }
            if (options.recordHoldTime) {
                slot.stopTimer();
            }
            slot.setOrigin(null);
            if (isBroken || !isReset(slot)) {
                discard(slot, End.BROKEN);
            } else if (slot.isExpired()) {
                discard(slot, End.EXPIRED);
            } else {
                free(slot);
            }
        } else {
            slots.comesBack(slot);
            if (!slot.free(leased, token)) {
                return false;
            }
            attend(slot);
        }
        return true;
    }

    private void free(Slot<R> slot) {
        slots.comesBack(slot);
        slot.free();
        attend(slot);
    }

    /** Serves waiting threads after a slot was freed, and destroys the resource if it was evicted. */
    private void attend(Slot<R> freed) {
        if (attention || freed.isOlderThan(generation)) {
            change(() -> {});
        }
    }

    private void discard(Slot<R> slot, End end) {
        destroy(slot);
        change(() -> forget(slot, end));
    }

    /** Reclaims a slot whose lease was leaked. Called by a thread of all pools. */
    void reclaim(Slot<R> slot) {
        withLoader(loader, () -> destroyLeaked(slot));
    }

    private void destroyLeaked(Slot<R> slot) {
        LOGGER.log(
                System.Logger.Level.WARNING,
                "a lease of "
                        + typeOf(slot)
                        + " was leaked, so the pool destroys its resource;"
                        + " use try-with-resources to close leases",
                slot.origin());
        discard(slot, End.RECLAIMED);
    }

    /** Applies a change under the lock, and then handles its consequences without the lock. */
    private void change(Runnable change) {
        List<Slot<R>> surplus = new ArrayList<>();
        List<Waiter<R>> served = new ArrayList<>();
        lock.lock();
        try {
            change.run();
            attention = true;
            removeEvicted(surplus);
            removeSurplus(surplus);
            serve(served);
            attention = isAttentionNeeded();
            maxSize = Math.max(maxSize, size());
            if (isTerminated()) {
                empty.signalAll();
            }
        } finally {
            lock.unlock();
        }
        served.forEach(waiter -> LockSupport.unpark(waiter.thread));
        if (!surplus.isEmpty()) {
            surplus.forEach(this::destroy);
            change(() -> leaving -= surplus.size());
        }
    }

    private void removeEvicted(List<Slot<R>> removed) {
        if (mayHaveEvicted) {
            mayHaveEvicted = making > 0; // Their factories may have started before.
            for (Slot<R> slot : slots.all()) {
                if (slot.isOlderThan(generation)) {
                    if (slot.take()) {
                        remove(slot, End.EVICTED);
                        removed.add(slot);
                    } else {
                        mayHaveEvicted = true;
                    }
                }
            }
        }
    }

    private void removeSurplus(List<Slot<R>> surplus) {
        Slot<R> slot;
        while (isTooLarge() && (slot = slots.takeIdle()) != null) {
            remove(slot, End.SURPLUS);
            surplus.add(slot);
        }
    }

    /** Removes a slot. The caller destroys the slot's resource after it has released the lock. */
    private void remove(Slot<R> slot, End end) {
        forget(slot, end);
        leaving++;
    }

    private void serve(List<Waiter<R>> served) {
        while (!waiters.isEmpty() && !isTooLarge()) {
            Slot<R> slot = slots.takeIdle();
            if (slot == null) {
                if (size() >= capacity) {
                    break;
                }
                making++;
            }
            Waiter<R> first = waiters.remove();
            if (first.thread != Thread.currentThread()) {
                countWait(System.nanoTime() - first.since);
                served.add(first);
            }
            first.slot = slot;
            first.served = true;
        }
    }

    private void countWait(long time) {
        waits++;
        waited += time;
        maxWait = Math.max(maxWait, time);
    }

    private void countTimeout() {
        waits++;
        timeouts++;
    }

    private void forget(Slot<R> slot, End end) {
        slots.remove(slot);
        ends[end.ordinal()]++;
        closedSlotLeases += slot.leases();
        closedSlotHeldNanos += slot.used();
    }

    /**
     * Does the maintenance that is due: reports leaks, removes expired and idle resources, checks
     * resources for {@code keepAlive}, and creates resources for {@code minIdle}. Called regularly
     * by a thread of all pools, which must not block, so hooks run on other threads.
     */
    void visit() {
        withLoader(loader, this::maintain);
    }

    private void maintain() {
        try {
            reportLeaks();
            List<Slot<R>> due = removeOld(System.nanoTime());
            if (!due.isEmpty()) {
                isKeepingAlive = true;
                onHelper(() -> keepAlive(due), () -> isKeepingAlive = false);
            }
            fill();
        } catch (Throwable e) { // No thread or no memory is available: the next visit tries again.
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "pool maintenance failed; the next maintenance run tries again",
                    e);
        }
    }

    private void reportLeaks() {
        if (options.leakThreshold == null) {
            return;
        }
        long threshold = options.leakThreshold.toNanos();
        for (Slot<R> slot : slots.all()) {
            LeaseOrigin origin = slot.origin();
            if (origin != null && !origin.isReported && origin.heldNanos() >= threshold) {
                LeakReport report = origin.report();
                origin.isReported = true;
                countLeak(1);
                onHelper(
                        () -> report(slot, report),
                        () -> {
                            origin.isReported = false;
                            countLeak(-1);
                        });
            }
        }
    }

    private void countLeak(int count) {
        lock.lock();
        leaks += count;
        lock.unlock();
    }

    private void report(Slot<R> slot, LeakReport report) {
        Consumer<? super LeakReport> listener = options.leakListener;
        if (listener == null) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "thread %s has held a lease of %s for %d ms"
                            .formatted(report.thread(), typeOf(slot), report.held().toMillis()),
                    report.origin());
        } else {
            try {
                listener.accept(report);
            } catch (Throwable e) {
                LOGGER.log(System.Logger.Level.WARNING, "the leak listener failed", e);
            }
        }
    }

    /** Removes old resources, and returns the idle slots that are due for a check. */
    private List<Slot<R>> removeOld(long now) {
        List<Slot<R>> due = new ArrayList<>();
        List<Slot<R>> old = new ArrayList<>();
        int idle = idleCount();
        for (Slot<R> slot : slots.all()) {
            long idleTime = slot.observeIdleTime(now);
            End end = null;
            if (idleTime >= 0 && slot.isExpired()) {
                end = End.EXPIRED;
            } else if (idle > options.minIdle && isReached(options.idleTimeout, idleTime)) {
                end = End.IDLE;
            }
            if (end == null) {
                if (!isKeepingAlive && isReached(options.keepAlive, slot.uncheckedTime(now))) {
                    due.add(slot);
                }
            } else if (slot.takeObserved()) {
                idle--;
                End cause = end;
                change(() -> remove(slot, cause));
                old.add(slot);
            }
        }
        endAll(old);
        return due;
    }

    /** Ends all removed slots, even if no helper thread is available; then the first failure is thrown. */
    private void endAll(List<Slot<R>> removed) {
        Throwable failure = null;
        for (Slot<R> slot : removed) {
            try {
                onHelper(() -> end(slot), () -> end(slot));
            } catch (RuntimeException | Error e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw unchecked(failure);
        }
    }

    private static boolean isReached(@Nullable Duration limit, long time) {
        return limit != null && time >= limit.toNanos();
    }

    /** Destroys the resource of a slot that was removed. */
    private void end(Slot<R> removed) {
        destroy(removed);
        change(() -> leaving--);
    }

    private void keepAlive(List<Slot<R>> due) {
        try {
            for (Slot<R> slot : due) {
                if (slot.takeObserved()) {
                    End end = endOf(slot);
                    lock.lock();
                    keepAlives++;
                    lock.unlock();
                    if (end == null) {
                        slot.setChecked(System.nanoTime());
                        free(slot);
                    } else {
                        discard(slot, end);
                    }
                }
            }
        } finally {
            isKeepingAlive = false;
        }
    }

    private void fill() {
        if (options.minIdle > 0 && !isFilling) {
            lock.lock();
            try {
                if (!isToFill() || System.nanoTime() - nextFill < 0) {
                    return;
                }
            } finally {
                lock.unlock();
            }
            isFilling = true;
            onHelper(this::makeIdle, () -> isFilling = false);
        }
    }

    private void makeIdle() {
        try {
            var reserved = new boolean[1];
            do {
                change(
                        () -> {
                            reserved[0] = isToFill();
                            making += reserved[0] ? 1 : 0;
                        });
                if (reserved[0]) {
                    free(make());
                    setFillPause(MIN_PAUSE_NANOS);
                }
            } while (reserved[0]);
        } catch (Throwable e) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "cannot create an idle resource for minIdle; trying again after a pause",
                    e);
            setFillPause(Math.min(2 * fillPause, MAX_PAUSE_NANOS));
        } finally {
            isFilling = false;
        }
    }

    private void setFillPause(long pause) {
        lock.lock();
        fillPause = pause;
        nextFill = System.nanoTime() + pause;
        lock.unlock();
    }

    private boolean isToFill() {
        return !closed && size() < capacity && idleCount() < options.minIdle;
    }

    private int idleCount() {
        int count = 0;
        for (Slot<R> slot : slots.all()) {
            count += slot.isIdle() ? 1 : 0;
        }
        return count;
    }

    boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    private int size() {
        return slots.size() + making + leaving;
    }

    private boolean isTooLarge() {
        return slots.size() + making > capacity;
    }

    private boolean isAttentionNeeded() {
        return !waiters.isEmpty() || isTooLarge();
    }

    private boolean isTerminated() {
        return closed && size() == 0;
    }

    private boolean isValid(Slot<R> slot) {
        PoolOptions.Check<? super R> validate = options.validate;
        try {
            return validate == null || validate.isValid(slot.resource);
        } catch (Throwable e) {
            report("validate", slot, e);
            return false;
        }
    }

    private boolean isReset(Slot<R> slot) {
        return apply("reset", options.reset, slot);
    }

    private void destroy(Slot<R> slot) {
        apply("destroy", options.destroy, slot);
    }

    /**
     * Runs a hook. Errors are caught, too, because a failing hook must not reduce the capacity of
     * the pool.
     */
    private boolean apply(
            String hook, PoolOptions.@Nullable Action<? super R> action, Slot<R> slot) {
        if (action == null) {
            return true;
        }
        try {
            action.apply(slot.resource);
            return true;
        } catch (Throwable e) {
            report(hook, slot, e);
            return false;
        }
    }

    private void report(String hook, Slot<R> slot, Throwable failure) {
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        LOGGER.log(
                System.Logger.Level.WARNING,
                "the " + hook + " hook failed for a resource of type " + typeOf(slot),
                failure);
    }

    /**
     * Returns the name of the resource's class. The resource's own {@code toString} might reveal a secret or throw.
     */
    private static String typeOf(Slot<?> slot) {
        return slot.resource.getClass().getName();
    }

    private static int checked(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity must be at least 1: " + capacity);
        }
        return capacity;
    }
}
