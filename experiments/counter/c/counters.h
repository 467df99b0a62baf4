/* SPDX-License-Identifier: Apache-2.0
 *
 * The ways to share a counter among threads: one counter for each, zero at first. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

enum { READS = 100 }; /* for each increment, where reads are counted too */

typedef struct counter {
    const char *scheme;
    bool is_safe; /* never loses an increment */
    void *object; /* what the functions are called with */
    void (*reset)(void *object);
    uint64_t (*value)(void *object);
    void (*increments)(void *object, uint64_t times);
    /* Each increment with READS reads; how often a read found less than the one before it. */
    uint64_t (*increments_and_reads)(void *object, uint64_t times);
} counter;

/* Ends with NULL. */
extern const counter *const counters[];

/* For the loop that increments an atomic counter and an unsafe one. */
extern const counter *const with_safety;
extern const counter *const without_safety;
void both_increments(void *safe, void *not_safe, uint64_t times);

#endif
