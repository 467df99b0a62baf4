/* SPDX-License-Identifier: Apache-2.0
 *
 * The schemes for sharing a counter between threads: one counter for each, initially zero. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

enum { READS = 100 }; /* reads per increment in read_mostly */

typedef struct counter {
    const char *scheme;
    bool is_safe; /* never loses an increment */
    void *object; /* argument of the functions */
    void (*reset)(void *object);
    uint64_t (*value)(void *object);
    void (*increments)(void *object, uint64_t times);
    /* Increments the counter `times` times, with READS reads after each increment. Returns the number of
     * reads that found a lower value than the previous one. */
    uint64_t (*increments_and_reads)(void *object, uint64_t times);
} counter;

/* All schemes, ending with NULL. */
extern const counter *const counters[];

/* The atomic and the unsafe counter of the case side_by_side, and the loop that increments both `times`
 * times. */
extern const counter *const with_safety;
extern const counter *const without_safety;
void both_increments(void *safe, void *not_safe, uint64_t times);

#endif
