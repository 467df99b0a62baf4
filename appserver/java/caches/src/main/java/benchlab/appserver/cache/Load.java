// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A load in progress. The thread that creates it must complete it with {@link #succeed} or {@link
 * #fail}.
 */
final class Load<V> {

    /**
     * The load that each thread waits for, across all caches, because a loader may use other caches.
     * Guarded by its own monitor.
     */
    private static final Map<Thread, Load<?>> WAITING = new HashMap<>();

    /**
     * The thread that runs the loader. Guarded by {@link #WAITING}, except in the thread itself.
     */
    private Thread loader = Thread.currentThread();

    private final CountDownLatch end = new CountDownLatch(1);

    // Written before {@code end} is counted down.
    private @Nullable V value;
    private @Nullable Throwable failure;

    /**
     * Makes the current thread the loader. Must be called before the loader runs on a thread that
     * did not create the load.
     */
    void begin() {
        synchronized (WAITING) {
            loader = Thread.currentThread();
        }
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
            loader.interrupt();
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        return new LoadException(thrown);
    }

    /**
     * Waits for at most {@code timeout} ns.
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
            if (load.loader == thread) {
                return true;
            }
            load = WAITING.get(load.loader);
        }
        return false;
    }
}
