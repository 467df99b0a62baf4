// SPDX-License-Identifier: Apache-2.0
package benchlab.pool;

import java.util.Arrays;

/** A resource: 64 KiB, in which each word is 1. */
final class Resource {

    private final long[] words = new long[8192];

    /** True while the resource is in use, so that a holder detects other holders. */
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
