// SPDX-License-Identifier: Apache-2.0
// Memory that makes this process large.
package benchlab.process;

import benchlab.kit.Arguments;
import benchlab.kit.Refusal;
import java.nio.ByteBuffer;

/**
 * The memory that makes this process as large as requested. It is outside the heap, so that the
 * garbage collector does not process it. Closing this object releases it.
 */
final class Parent implements AutoCloseable {

    @SuppressWarnings("unused") // The JVM writes zeros to every page.
    private ByteBuffer resident;

    Parent(Arguments arguments) throws Refusal {
        String parent = arguments.text("parent");
        resident =
                ByteBuffer.allocateDirect(
                        switch (parent) {
                            case "10MB" -> 10 << 20;
                            case "1GB" -> 1 << 30;
                            default -> throw Refusal.unsupported("unknown parent " + parent);
                        });
    }

    @Override
    public void close() {
        resident = null;
        System.gc(); // Frees the buffer.
    }
}
