// SPDX-License-Identifier: Apache-2.0
// The classic retry interceptor, as published.
package benchlab.retry;

import benchlab.appserver.retry.StaleVersionException;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * Retries a call immediately after any database error or stale version. Before a retry, it sleeps only after
 * a lost connection.
 */
final class Classic {

    private static final int RETRIES = 11;
    private static final long SLEEP_MS = 500;
    private static final long MORE_SLEEP_MS = 1_000; // Added for each retry.

    private Classic() {}

    static void call(Callable<Void> attempt) throws Exception {
        for (int retry = 1; ; retry++) {
            try {
                attempt.call();
                return;
            } catch (SQLException | StaleVersionException failure) {
                if (retry > RETRIES) {
                    throw failure;
                }
                if (TransientError.of(failure).equals(Optional.of(TransientError.DISCONNECTED))) {
                    Thread.sleep(SLEEP_MS + MORE_SLEEP_MS * retry);
                }
            }
        }
    }
}
