// SPDX-License-Identifier: Apache-2.0
package benchlab.retry;

import benchlab.appserver.retry.Fault;
import benchlab.appserver.retry.Faults;
import java.io.IOException;
import java.util.Locale;
import java.util.Optional;

/**
 * The transient errors of all variants, after which a retry may succeed, as the experiment's
 * metrics count them.
 */
enum TransientError {
    STALE,
    DEADLOCK,
    DISCONNECTED;

    /**
     * Classifies the failure of an attempt. Returns empty if a retry would fail too.
     */
    static Optional<TransientError> of(Throwable failure) {
        return failure instanceof IOException
                ? Optional.of(DISCONNECTED) // A request without a response.
                : of(Faults.of(failure));
    }

    static Optional<TransientError> of(Fault fault) {
        return Optional.ofNullable(
                switch (fault) {
                    case STALE_VERSION -> STALE;
                    case SERIALIZATION_FAILURE, DEADLOCK, LOCK_TIMEOUT, BUSY -> DEADLOCK;
                    case CONNECTION_LOST, OUTCOME_UNKNOWN -> DISCONNECTED;
                    case PERMANENT -> null;
                });
    }

    /** Returns the name of the metric. */
    String metric() {
        return name().toLowerCase(Locale.ROOT);
    }
}
