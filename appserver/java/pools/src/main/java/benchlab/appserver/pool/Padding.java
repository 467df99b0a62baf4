// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.pool;

/**
 * A padding of 128 bytes before the fields of a subclass, which the JVM lays out after the fields
 * of its superclass. Current processors fetch 64-byte lines in pairs.
 */
@SuppressWarnings("unused")
abstract class Padding {
    private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;
}
