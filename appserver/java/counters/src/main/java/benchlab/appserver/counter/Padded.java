// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.counter;

/**
 * Numbers that share their cache lines with nothing else. The JVM lays out the fields of a
 * superclass before the fields of its subclass.
 */
final class Padded {

    private Padded() {}

    @SuppressWarnings("unused")
    abstract static class Before {
        private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;
    }

    abstract static class Value extends Before {
        volatile long value;
    }

    /**
     * A number with 128 unused bytes on either side, because current processors fetch 64-byte lines
     * in pairs.
     */
    @SuppressWarnings("unused")
    abstract static class Number extends Value {
        private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;
    }
}
