// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.counter;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A counter guarded by a lock, as a baseline for {@link AtomicCounter}. If the system preempts a
 * thread that holds the lock, all other threads wait.
 */
public final class LockedCounter implements LinearizableCounter {

    private final ReentrantLock lock = new ReentrantLock();
    private long value;

    /** Creates a counter at zero. */
    public LockedCounter() {}

    /**
     * Creates a counter with an initial value.
     *
     * @param start the initial value
     */
    public LockedCounter(long start) {
        set(start); // Under the lock, so that it is visible even after unsafe publication.
    }

    @Override
    public long value() {
        lock.lock();
        try {
            return value;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void set(long to) {
        lock.lock();
        try {
            value = to;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long fetchAndAdd(long amount) {
        lock.lock();
        try {
            long before = value;
            value = before + amount;
            return before;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean compareAndSet(long expected, long to) {
        lock.lock();
        try {
            if (value != expected) {
                return false;
            }
            value = to;
            return true;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return Long.toString(value());
    }
}
