// SPDX-License-Identifier: Apache-2.0
// What kinds of faults a call of a database meets.
package benchlab.appserver.retry;

import java.util.Locale;

/** A class of faults, by what a retry has to do about it. {@link Faults} tells which one it is. */
public enum Fault {
    /** Somebody else has changed the record since it was read (an optimistic lock). */
    STALE_VERSION,
    /** The database could not put the transaction in an order with others. */
    SERIALIZATION_FAILURE,
    /** Transactions waited for each other; the database has ended this one. */
    DEADLOCK,
    /** A lock was not free in time. */
    LOCK_TIMEOUT,
    /** SQLite's database is locked, or has changed since the transaction read it. */
    BUSY,
    /** The connection was lost, or none could be made. Nothing was committed. */
    CONNECTION_LOST,
    /** The connection was lost during the commit: the database may have done it. */
    OUTCOME_UNKNOWN,
    /** All else. It is never retried. */
    PERMANENT;

    /** The label in metrics: {@code stale_version}. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
