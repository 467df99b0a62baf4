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
    void (*reset)(void);
    uint64_t (*value)(void);
    void (*increments)(uint64_t times);
    /* Each increment with READS reads; how often a read found less than the one before it. */
    uint64_t (*increments_and_reads)(uint64_t times);
} counter;

/* Zero-terminated by a scheme of NULL. */
extern const counter counters[];

/* The atomic counter and the unsafe one, both incremented in the same loop. */
extern const counter *const safe_counter;
extern const counter *const unsafe_counter;
void both_increments(uint64_t times);

#endif
