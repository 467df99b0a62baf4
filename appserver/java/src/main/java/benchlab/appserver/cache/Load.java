// SPDX-License-Identifier: Apache-2.0
// A value on its way, and the threads that wait for it.
package benchlab.appserver.cache;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Made by the thread that loads, which must end it: {@link #succeed} or {@link #fail}. */
final class Load<V> {

    /** The load that each thread waits for, in all caches: loaders may ask others. Guards itself. */
    private static final Map<Thread, Load<?>> WAITING = new HashMap<>();

    private final Thread loader = Thread.currentThread();
    private final CountDownLatch end = new CountDownLatch(1);

    // Written before the end.
    private V value;
    private Throwable failure;

    V succeed(V loaded) {
        value = loaded;
        end.countDown();
        return loaded;
    }

    /** The exception for the thread that loads; an error goes on as it is. */
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
     * @throws LoadException if the load failed, waits for this thread, or the thread is interrupted,
     *     which keeps its interrupt flag
     * @throws LoadTimeoutException after the timeout
     */
    V await(long timeout) {
        Thread waiter = Thread.currentThread();
        synchronized (WAITING) {
            if (waitsFor(waiter)) {
                throw new LoadException("the key is loading, and its loader waits for this thread");
            }
            WAITING.put(waiter, this);
        }
        try {
            if (timeout == LoadingCache.FOREVER) {
                end.await();
            } else if (!end.await(timeout, TimeUnit.NANOSECONDS)) {
                throw new LoadTimeoutException(
                        "another thread did not load it within " + Duration.ofNanos(timeout));
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
        return value;
    }

    /** True if this cannot end before {@code thread} goes on: followed from loader to loader. */
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
