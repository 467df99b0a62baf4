// SPDX-License-Identifier: Apache-2.0
// Room between what different threads write.
package benchlab.appserver.pool;

/**
 * 128 bytes in front of the fields of a subclass, which the JVM lays out after those of its
 * superclass: processors of today fetch lines of 64 bytes in pairs.
 */
@SuppressWarnings("unused")
abstract class Padding {
    private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;
}
