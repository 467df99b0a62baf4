// SPDX-License-Identifier: Apache-2.0
// What is leased.
package benchlab.pool;

import java.util.Arrays;

/** 64 KiB, in which each word is 1. */
final class Resource {

    private final long[] words = new long[8192];

    /** For the holder to see that it is alone. */
    boolean isHeld;

    long uses;

    Resource() {
        Arrays.fill(words, 1);
    }

    long sum() {
        long sum = 0;
        for (long word : words) {
            sum += word;
        }
        return sum;
    }
}
