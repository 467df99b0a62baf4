// SPDX-License-Identifier: Apache-2.0
// An example of counters: requests under way and requests served.
package benchlab.appserver.counter;

/** The figures of a server that ends gracefully: the last request that ends after it closes it. */
final class CounterExample {
    private final Counter served = new StripedCounter();
    private final LinearizableCounter users = new AtomicCounter(1); // The server itself is one.
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
