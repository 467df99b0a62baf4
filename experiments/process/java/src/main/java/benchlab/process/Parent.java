// SPDX-License-Identifier: Apache-2.0
// Memory that is there so that this process is large.
package benchlab.process;

import benchlab.kit.Arguments;
import benchlab.kit.Refusal;
import java.nio.ByteBuffer;

/** Outside of the heap, where it is no work for the collector, and is given back when it is closed. */
final class Parent implements AutoCloseable {

    @SuppressWarnings("unused") // It is only there; the JVM writes zeros to every page.
    private ByteBuffer resident;

    Parent(Arguments arguments) throws Refusal {
        String parent = arguments.text("parent");
        resident =
                ByteBuffer.allocateDirect(
                        switch (parent) {
                            case "10MB" -> 10 << 20;
                            case "1GB" -> 1 << 30;
                            default -> throw Refusal.unsupported("there is no parent " + parent);
                        });
    }

    @Override
    public void close() {
        resident = null;
        System.gc(); // It frees the buffer.
    }
}
