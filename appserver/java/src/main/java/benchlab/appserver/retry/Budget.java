// SPDX-License-Identifier: Apache-2.0
// How many retries there may be, as a fraction of the calls.
package benchlab.appserver.retry;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Retries as a fraction of the calls, so that they do not double the load of a database that is down
 * or slow. Each call earns its fraction of a retry, up to a reserve; each retry takes a whole one. All
 * policies that name one budget share it.
 */
public final class Budget {

    private static final long RETRY = 1_000_000; // In millionths.

    private final long fraction;
    private final long reserve;
    private final AtomicLong balance;

    /**
     * A budget with a full reserve.
     *
     * @param fraction retries for each call, as 0.1; from 0 to 1, to the millionth
     * @param reserve how many retries can be saved up, at least 1
     */
    public Budget(double fraction, int reserve) {
        if (!(fraction >= 0 && fraction <= 1)) {
            throw new IllegalArgumentException("fraction must be from 0 to 1: " + fraction);
        } else if (reserve < 1) {
            throw new IllegalArgumentException("reserve must be at least 1: " + reserve);
        }
        this.fraction = Math.round(fraction * RETRY);
        this.reserve = reserve * RETRY;
        balance = new AtomicLong(this.reserve);
    }

    /** The retries that could be made now. */
    public long available() {
        return balance.get() / RETRY;
    }

    /** Counts a call. As long as nobody retries, this only reads. */
    void earn() {
        if (balance.get() < reserve) {
            balance.updateAndGet(now -> Math.min(reserve, now + fraction));
        }
    }

    /** Takes a retry; false if there is none. */
    boolean spend() {
        return balance.getAndUpdate(now -> now >= RETRY ? now - RETRY : now) >= RETRY;
    }
}
