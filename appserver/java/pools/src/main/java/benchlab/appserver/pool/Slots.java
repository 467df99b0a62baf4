// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

import benchlab.appserver.pool.PoolOptions.RequestOrder;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The resources of a pool. A search for an idle resource takes no lock. Only one thread at a time
 * may add or remove resources.
 */
final class Slots<R> {

    /**
     * The position at which a search for an idle slot begins. A wrong hint only costs time, so
     * threads may overwrite each other's hints.
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
        private @Nullable Slot<?> latest;
    }

    private final boolean isLatestFirst;
    private final Hint hint = new Hint();

    @SuppressWarnings("unchecked") // The array is empty.
    private volatile Slot<R>[] slots = (Slot<R>[]) new Slot<?>[0];

    Slots(RequestOrder order) {
        isLatestFirst = order == RequestOrder.LIFO;
    }

    /**
     * Returns an idle slot, which the caller then owns, or null. Visits every slot once, so it
     * misses only slots that are freed after it has visited them.
     */
    @SuppressWarnings("unchecked") // LATEST is one of these slots.
    @Nullable Slot<R> takeIdle() {
        if (isLatestFirst) {
            Slot<R> latest = (Slot<R>) Hint.LATEST.getAcquire(hint);
            return latest != null && latest.take() ? latest : takeIdle(0);
        } else {
            return takeIdle((int) Hint.NEXT.getOpaque(hint));
        }
    }

    private @Nullable Slot<R> takeIdle(int first) {
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

    /**
     * In LIFO order, makes the next search try {@code slot} first. Called before the slot becomes
     * idle.
     */
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

    /**
     * Removes a slot. The caller remains the owner, so a thread that still finds the slot cannot
     * take it.
     */
    void remove(Slot<R> slot) {
        slots = Arrays.stream(slots).filter(other -> other != slot).toArray(Slots::newArray);
        Hint.LATEST.compareAndSet(hint, slot, null); // Otherwise the hint would keep the slot reachable.
    }

    /** Returns all current slots. The array must not be modified. */
    Slot<R>[] all() {
        return slots;
    }

    int size() {
        return slots.length;
    }

    @SuppressWarnings("unchecked") // The array contains only nulls.
    private static <R> Slot<R>[] newArray(int length) {
        return (Slot<R>[]) new Slot<?>[length];
    }
}
