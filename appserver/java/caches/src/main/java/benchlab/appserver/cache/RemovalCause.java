// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

/**
 * The reason that a value left a cache: a removal, a replacement, the end of its time to live, or
 * an eviction.
 */
public enum RemovalCause {
    /** {@link Cache#remove} or {@link Cache#clear} removed the entry. */
    EXPLICIT,
    /** A new value of the key replaced the entry. */
    REPLACED,
    /** The entry's time to live had passed. */
    EXPIRED,
    /** The entry was evicted because of the maximum size or weight, or was too heavy to be stored. */
    SIZE
}
