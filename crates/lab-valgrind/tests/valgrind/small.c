// SPDX-License-Identifier: Apache-2.0
// gcc -O1 -gdwarf-4 -static -nostdlib -fno-builtin small.c -o small
static char table[131072];
static volatile int rounds = 5;

static inline int fold(const char *bytes, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += bytes[i];
    return sum;
}

__attribute__((noinline)) static void fill(int n) {
    for (int i = 0; i < n; i++)
        table[i] = (char)i;
}

__attribute__((noinline)) static int depth(int n) { return n ? 1 + depth(n - 1) : fold(table, 1000); }

void _start(void) {
    int sum = 0;
    for (int i = 0; i < rounds; i++) {
        fill(131072);
        sum += depth(3);
    }
    __asm__ volatile("syscall" : : "a"(60), "D"(sum & 1) : "rcx", "r11", "memory");
}
