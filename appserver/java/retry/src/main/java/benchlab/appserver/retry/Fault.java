// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry;

import java.util.Locale;

/** A class of faults that are retried in the same way. {@link Faults} classifies exceptions. */
public enum Fault {
    /** Another transaction changed the record since it was read (optimistic locking). */
    STALE_VERSION,
    /** The database could not serialize the transaction with other transactions. */
    SERIALIZATION_FAILURE,
    /** Transactions waited for each other, and the database aborted this transaction. */
    DEADLOCK,
    /** A lock could not be acquired in time. */
    LOCK_TIMEOUT,
    /** SQLite's database is locked, or has changed since the transaction read it. */
    BUSY,
    /** The connection was lost, or could not be established. Nothing was committed. */
    CONNECTION_LOST,
    /** The connection was lost during the commit, which the database may have completed. */
    OUTCOME_UNKNOWN,
    /** Any other failure. It is never retried. */
    PERMANENT;

    /** Returns the label in metrics, such as {@code stale_version}. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
