/* SPDX-License-Identifier: Apache-2.0
   Performs as many steps of a xorshift generator as its argument says. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    uint64_t state = 88172645463325252u;
    for (long left = argc > 1 ? atol(argv[1]) : 0; left > 0; left--) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    printf("%llu\n", (unsigned long long)state);
    return 0;
}
