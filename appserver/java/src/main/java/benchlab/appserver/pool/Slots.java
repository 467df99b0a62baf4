// SPDX-License-Identifier: Apache-2.0
// The resources of a pool, and the search for one that is idle.
package benchlab.appserver.pool;

import benchlab.appserver.pool.PoolOptions.RequestOrder;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/** Searching takes no lock; adding and removing is for one thread at a time. */
final class Slots<R> {

    /**
     * Where to begin. A hint that is wrong costs time only, so that threads may overwrite each
     * other's.
     */
    private static final class Hint extends Padding {
        private static final VarHandle NEXT;
        private static final VarHandle LATEST;

        static {
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                NEXT = lookup.findVarHandle(Hint.class, "next", int.class);
                LATEST = lookup.findVarHandle(Hint.class, "latest", Slot.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private int next;
        private Slot<?> latest;
    }

    private final boolean isLatestFirst;
    private final Hint hint = new Hint();

    @SuppressWarnings("unchecked") // It holds none.
    private volatile Slot<R>[] slots = (Slot<R>[]) new Slot<?>[0];

    Slots(RequestOrder order) {
        isLatestFirst = order == RequestOrder.LIFO;
    }

    /**
     * An idle slot, which the caller owns now, or null. It looks at every slot once: it misses one
     * that is freed behind it, and nothing else that is idle.
     */
    @SuppressWarnings("unchecked") // The latest is one of these slots.
    Slot<R> takeIdle() {
        if (isLatestFirst) {
            var latest = (Slot<R>) Hint.LATEST.getAcquire(hint);
            return latest != null && latest.take() ? latest : takeIdle(0);
        } else {
            return takeIdle((int) Hint.NEXT.getOpaque(hint));
        }
    }

    private Slot<R> takeIdle(int first) {
        Slot<R>[] all = slots;
        int index = first < all.length ? first : 0;
        for (int tried = 0; tried < all.length; tried++) {
            Slot<R> slot = all[index];
            index = index + 1 < all.length ? index + 1 : 0;
            if (slot.take()) {
                if (!isLatestFirst) {
                    Hint.NEXT.setOpaque(hint, index);
                }
                return slot;
            }
        }
        return null;
    }

    /** Says that a slot is about to be idle. */
    void comesBack(Slot<R> slot) {
        if (isLatestFirst && Hint.LATEST.getAcquire(hint) != slot) {
            Hint.LATEST.setRelease(hint, slot);
        }
    }

    void add(Slot<R> slot) {
        Slot<R>[] all = slots;
        Slot<R>[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = slot;
        slots = more;
    }

    /** Its owner keeps it, so that nobody who still finds it here takes it. */
    void remove(Slot<R> slot) {
        slots = Arrays.stream(slots).filter(other -> other != slot).toArray(Slots::newArray);
        Hint.LATEST.compareAndSet(hint, slot, null); // Or the hint would keep it in memory.
    }

    /** All that there are now, not to be changed. */
    Slot<R>[] all() {
        return slots;
    }

    int size() {
        return slots.length;
    }

    @SuppressWarnings("unchecked") // It holds none yet.
    private static <R> Slot<R>[] newArray(int length) {
        return (Slot<R>[]) new Slot<?>[length];
    }
}
