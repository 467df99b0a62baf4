// SPDX-License-Identifier: Apache-2.0
// gcc -gdwarf-4 heap.c -o heap
#include <stdlib.h>
#include <string.h>

static void again(size_t size) {
    char *block = malloc(size);
    memset(block, 1, size);
    free(block);
}

int main(void) {
    char *held[100];
    for (int i = 0; i < 20; i++)
        again(262144);
    // All at once, while the whole heap is below its peak.
    for (int i = 0; i < 100; i++)
        memset(held[i] = malloc(2000), 1, 2000);
    for (int i = 1; i < 100; i++)
        free(held[i]);
    return held[0][0] - 1;
}
