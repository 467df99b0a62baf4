/* SPDX-License-Identifier: Apache-2.0
 *
 * Several operations at once: a crew of n threads, of which member c, from 0, does the operations
 * k of a batch with k mod n = c. They begin together, and live until the crew is dismissed. */
#ifndef LAB_CREW_H
#define LAB_CREW_H

#include "lab_kit.h"

typedef struct lab_crew lab_crew;

/* A member's share of a batch. */
typedef struct lab_share {
    uint64_t first;      /* operation, then every step-th one ... */
    uint64_t step;
    uint64_t operations; /* ... below this */
    lab_work work;       /* what they yield */
    lab_latencies latencies;
} lab_share;

/* Does a share: for (k = first; k < operations; k += step), with lab_lap after each. False if the
 * work failed. `member` is that member's element of the array that the crew was gathered with. */
typedef bool (*lab_crew_work)(void *member, lab_share *share);

/* Starts a thread for each of `size` elements of `members`, of `width` bytes each. NULL, with
 * lab_fail called, if that was not possible. */
lab_crew *lab_crew_gather(lab *lab, size_t size, void *members, size_t width, lab_crew_work work);

/* Does a batch and adds up what it yields. Returns the element of a member whose work failed, or
 * NULL: the case knows how to say what happened. */
void *lab_crew_perform(lab_crew *crew, lab *lab, uint64_t operations, lab_work *work);

/* Ends the threads. NULL is no crew. */
void lab_crew_dismiss(lab_crew *crew);

#endif
