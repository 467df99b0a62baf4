// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A load that is in progress or about to begin. The first thread that calls {@link #begin} must
 * complete it with {@link #succeed} or {@link #fail}; the others may wait for it.
 */
final class Load<V> {

    /**
     * The load that each thread waits for, across all caches, because a loader may use other caches.
     * Guarded by its own monitor.
     */
    private static final Map<Thread, Load<?>> WAITING = new HashMap<>();

    /** The thread that runs the loader; null until {@link #begin}. */
    private final AtomicReference<@Nullable Thread> loader = new AtomicReference<>();

    private final CountDownLatch end = new CountDownLatch(1);

    // Written before {@code end} is counted down.
    private @Nullable V value;
    private @Nullable Throwable failure;

    /** Makes the current thread the loader. Returns false if the load has already begun. */
    boolean begin() {
        return loader.compareAndSet(null, Thread.currentThread());
    }

    boolean hasBegun() {
        return loader.get() != null;
    }

    V succeed(V loaded) {
        value = loaded;
        end.countDown();
        return loaded;
    }

    /**
     * Ends the load with a failure. Returns the exception for the loading thread, but rethrows an
     * {@link Error} unchanged.
     */
    LoadException fail(Throwable thrown) {
        failure = thrown;
        end.countDown();
        if (thrown instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        return new LoadException(thrown);
    }

    /**
     * Waits for at most {@code timeout} ns for the end of a load that has begun.
     *
     * @throws LoadException if the load failed or waits for this thread, or if this thread is
     *     interrupted; the interrupt flag then stays set
     * @throws LoadTimeoutException after the timeout
     */
    V await(long timeout) {
        Thread waiter = Thread.currentThread();
        synchronized (WAITING) {
            if (waitsFor(waiter)) {
                throw new LoadException(
                        "the key is being loaded, and its loader waits for this thread");
            }
            WAITING.put(waiter, this);
        }
        try {
            if (timeout == LoadingCache.FOREVER) {
                end.await();
            } else if (!end.await(timeout, TimeUnit.NANOSECONDS)) {
                throw new LoadTimeoutException(
                        "another thread did not load the value within " + Duration.ofNanos(timeout));
            }
        } catch (InterruptedException e) {
            waiter.interrupt();
            throw new LoadException(e);
        } finally {
            synchronized (WAITING) {
                WAITING.remove(waiter);
            }
        }
        if (failure != null) {
            throw new LoadException(failure);
        }
        return Objects.requireNonNull(value);
    }

    /**
     * Returns true if this load cannot complete before {@code thread} continues. Follows the chain
     * from loader to loader.
     */
    private boolean waitsFor(Thread thread) {
        Load<?> load = this;
        while (load != null && load.end.getCount() > 0) {
            Thread running = load.loader.get();
            if (running == thread) {
                return true;
            }
            load = WAITING.get(running);
        }
        return false;
    }
}
