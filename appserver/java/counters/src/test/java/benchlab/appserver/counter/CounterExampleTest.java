// SPDX-License-Identifier: Apache-2.0
// Tests the example: the last user closes the server, once.
package benchlab.appserver.counter;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CounterExampleTest {

    @Test
    void closesWhenTheLastRequestIsServed() {
        var closed = new AtomicCounter();
        var server = new CounterExample(closed::increment);
        server.serve(() -> {});
        server.serve(
                () -> {
                    server.end();
                    assertEquals(0, closed.value());
                });
        assertEquals(1, closed.value());
        assertEquals(2, server.served());
    }
}
