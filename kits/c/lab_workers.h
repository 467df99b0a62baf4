/* SPDX-License-Identifier: Apache-2.0
 *
 * Concurrent operations: of n threads, thread c (counted from 0) performs the operations k of a
 * batch with k mod n = c. The threads start together at a barrier, and wait between batches until
 * lab_workers_end. */
#ifndef LAB_WORKERS_H
#define LAB_WORKERS_H

#include "lab_kit.h"

typedef struct lab_workers lab_workers;

/* A worker's share of a batch. */
typedef struct lab_share {
    uint64_t first;      /* the first operation, followed by every step-th one ... */
    uint64_t step;
    uint64_t operations; /* ... below this */
    lab_work work;       /* the result of the operations */
    lab_latencies latencies;
} lab_share;

/* Returns the number of operations of a share. */
static inline uint64_t lab_share_size(const lab_share *share)
{
    return share->first < share->operations
        ? (share->operations - share->first - 1) / share->step + 1 : 0;
}

/* Performs the operations of a share: for (k = first; k < operations; k += step). Calls lab_lap
 * after each operation if the case reports latencies. Returns false if the work failed. `worker` is
 * the worker's element of the array passed to lab_workers_start. */
typedef bool (*lab_worker)(void *worker, lab_share *share);

/* Starts a thread for each of `count` elements of `workers`, which are `width` bytes long. If that
 * is not possible, calls lab_fail and returns NULL. */
lab_workers *lab_workers_start(lab *lab, size_t count, void *workers, size_t width, lab_worker work);

/* Performs a batch and adds up the results. Returns the element of a worker that failed, so that
 * the case can report the failure, or NULL. */
void *lab_workers_perform(lab_workers *workers, lab *lab, uint64_t operations, lab_work *work);

/* Ends the threads. NULL is ignored. */
void lab_workers_end(lab_workers *workers);

/* Starts a thread that sleeps until the process exits. In a process with one thread, glibc locks a mutex without an
 * atomic instruction: a subject whose cases lock on one thread calls this before it opens a case, so that a lock costs
 * as much as between threads, and always the same. Returns false if the thread cannot be started. */
bool lab_start_sleeper(void);

#endif
