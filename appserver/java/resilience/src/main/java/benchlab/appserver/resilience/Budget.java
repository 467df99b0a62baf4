// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits retries to a fraction of the calls, so that retries do not multiply the load of a service
 * that is down or slow. Each call earns a fraction of a retry, up to a reserve. Each retry spends a
 * whole retry from the reserve, and each further call of a {@link Hedge} does, too. Multiple
 * policies may share a budget.
 */
public final class Budget {

    private static final long RETRY = 1_000_000; // Amounts are in millionths of a retry.

    private final long fraction;
    private final long reserve;
    private final AtomicLong balance;

    /**
     * Creates a budget with a full reserve.
     *
     * @param fraction the number of retries that each call earns, such as 0.1; 0 to 1, rounded to a
     *     millionth
     * @param reserve the maximum number of unused retries that accumulate, at least 1
     */
    public Budget(double fraction, int reserve) {
        if (!(fraction >= 0 && fraction <= 1)) {
            throw new IllegalArgumentException("expected a fraction from 0 to 1, got " + fraction);
        } else if (reserve < 1) {
            throw new IllegalArgumentException("reserve must be at least 1: " + reserve);
        }
        this.fraction = Math.round(fraction * RETRY);
        this.reserve = reserve * RETRY;
        balance = new AtomicLong(this.reserve);
    }

    /**
     * Returns the number of retries that are currently available.
     *
     * @return the number of retries
     */
    public long available() {
        return balance.get() / RETRY;
    }

    /** Counts a call. Does not write while the reserve is full. */
    void earn() {
        if (balance.get() < reserve) {
            balance.updateAndGet(now -> Math.min(reserve, now + fraction));
        }
    }

    /** Spends a retry; returns false if none is available. */
    boolean spend() {
        return balance.getAndUpdate(now -> now >= RETRY ? now - RETRY : now) >= RETRY;
    }
}
