// SPDX-License-Identifier: Apache-2.0
// An example of counters: requests in progress and requests served.
package benchlab.appserver.counter;

/** The counts of a server with graceful shutdown: the last request to finish closes the server. */
final class CounterExample {
    private final Counter served = new StripedCounter();
    private final LinearizableCounter users = new AtomicCounter(1); // The server itself counts as one.
    private final Runnable close;

    CounterExample(Runnable close) {
        this.close = close;
    }

    void serve(Runnable request) {
        users.increment();
        try {
            request.run();
            served.increment();
        } finally {
            leave();
        }
    }

    void end() {
        leave();
    }

    private void leave() {
        if (users.decrementAndTestZero()) {
            close.run();
        }
    }

    long served() {
        return served.value();
    }
}
