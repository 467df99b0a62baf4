// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls that may block on a background thread, one at a time, each with a timeout. A call that
 * times out continues on that thread, and the next call returns its result.
 *
 * @param <T> the type of the results
 */
final class TimedCalls<T> {

    private final String timeoutMessage;
    private volatile @Nullable Future<T> pending;

    TimedCalls(String timeoutMessage) {
        this.timeoutMessage = timeoutMessage;
    }

    /** Returns the call that has timed out; null if there is none. */
    @Nullable Future<T> pending() {
        return pending;
    }

    /** Waits for the pending call, if there is one, or else runs {@code work}. */
    @Nullable T call(Callable<T> work, Deadline deadline)
            throws IOException, InterruptedException, TimeoutException {
        if (pending == null) {
            pending = Streams.start(work);
        }
        return finish(deadline);
    }

    /** Waits for the pending call and returns its result; returns null if there is none. */
    @Nullable T finish(Deadline deadline) throws IOException, InterruptedException, TimeoutException {
        Future<T> running = pending;
        if (running == null) {
            return null;
        }
        T result;
        try {
            result = RunningProcess.await(running, deadline, timeoutMessage);
        } catch (IOException e) { // The call has ended.
            pending = null;
            throw e;
        }
        pending = null;
        return result;
    }
}
