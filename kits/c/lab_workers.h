/* SPDX-License-Identifier: Apache-2.0
 *
 * Several operations at once: n threads, of which thread c, from 0, does the operations k of a batch
 * with k mod n = c. They start together on a barrier, and wait between batches until they are ended. */
#ifndef LAB_WORKERS_H
#define LAB_WORKERS_H

#include "lab_kit.h"

typedef struct lab_workers lab_workers;

/* A worker's share of a batch. */
typedef struct lab_share {
    uint64_t first;      /* operation, then every step-th one ... */
    uint64_t step;
    uint64_t operations; /* ... below this */
    lab_work work;       /* what they yield */
    lab_latencies latencies;
} lab_share;

/* The number of operations of a share. */
static inline uint64_t lab_share_size(const lab_share *share)
{
    return share->first < share->operations
        ? (share->operations - share->first - 1) / share->step + 1 : 0;
}

/* Does a share: for (k = first; k < operations; k += step), with lab_lap after each, or without any
 * lab_lap if the case tells no latencies. False if the work failed. `worker` is that worker's element
 * of the array that they were started with. */
typedef bool (*lab_worker)(void *worker, lab_share *share);

/* Starts a thread for each of `count` elements of `workers`, of `width` bytes each. NULL, with
 * lab_fail called, if that was not possible. */
lab_workers *lab_workers_start(lab *lab, size_t count, void *workers, size_t width, lab_worker work);

/* Does a batch and adds up what it yields. Returns the element of a worker that failed, or NULL: the
 * case knows how to say what happened. */
void *lab_workers_perform(lab_workers *workers, lab *lab, uint64_t operations, lab_work *work);

/* Ends the threads. NULL is no workers. */
void lab_workers_end(lab_workers *workers);

#endif
