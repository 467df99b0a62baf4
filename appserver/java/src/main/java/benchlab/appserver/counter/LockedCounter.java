// SPDX-License-Identifier: Apache-2.0
// A counter behind a lock.
package benchlab.appserver.counter;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A counter behind a lock: what {@link AtomicCounter} is to be compared with. A thread that the
 * system stops while it holds the lock makes all others wait.
 */
public final class LockedCounter implements LinearizableCounter {

    private final ReentrantLock lock = new ReentrantLock();
    private long value;

    /** A counter at zero. */
    public LockedCounter() {}

    /** A counter at {@code start}. */
    public LockedCounter(long start) {
        set(start); // By the lock: others see it even if the counter reaches them by a data race.
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
