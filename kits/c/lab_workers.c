/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that meet the caller at two barriers: one begins a batch, the other one ends it. */
#define _GNU_SOURCE /* barriers */
#include "lab_workers.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct worker {
    lab_workers *all;
    void *data;
    pthread_t thread;
    bool failed;
    lab_share share;
} worker;

struct lab_workers {
    lab_worker work;
    bool incomplete;          /* not all threads could be started */
    bool ended;
    pthread_mutex_t starting; /* held until all threads are there, or are known not to be */
    pthread_barrier_t begin;
    pthread_barrier_t end;
    size_t count;
    worker each[];
};

/* Without laps, the end of the share is the end of its last operation. */
static bool do_share(worker *self)
{
    lab_latencies *latencies = &self->share.latencies;
    if (lab_share_size(&self->share) == 0)
        return true;
    lab_start(latencies);
    bool done = self->all->work(self->data, &self->share);
    if (latencies->end == latencies->start)
        latencies->end = lab_clock();
    return done;
}

static void *serve(void *argument)
{
    worker *self = argument;
    lab_workers *all = self->all;
    pthread_mutex_lock(&all->starting);
    pthread_mutex_unlock(&all->starting);
    if (all->incomplete)
        return NULL;
    for (;;) {
        pthread_barrier_wait(&all->begin);
        if (all->ended)
            return NULL;
        self->failed = !do_share(self);
        pthread_barrier_wait(&all->end);
    }
}

static void join_and_free(lab_workers *workers)
{
    for (size_t i = 0; i < workers->count; i++)
        pthread_join(workers->each[i].thread, NULL);
    free(workers);
}

lab_workers *lab_workers_start(lab *lab, size_t count, void *workers, size_t width, lab_worker work)
{
    lab_workers *all = calloc(1, sizeof *all + count * sizeof *all->each);
    if (all == NULL) {
        lab_fail(lab, LAB_FAILED, "out of memory");
        return NULL;
    }
    all->work = work;
    pthread_mutex_init(&all->starting, NULL);
    pthread_barrier_init(&all->begin, NULL, (unsigned)count + 1);
    pthread_barrier_init(&all->end, NULL, (unsigned)count + 1);
    pthread_mutex_lock(&all->starting);
    for (; all->count < count; all->count++) {
        worker *worker = &all->each[all->count];
        worker->all = all;
        worker->data = (char *)workers + all->count * width;
        int error = pthread_create(&worker->thread, NULL, serve, worker);
        if (error != 0) {
            lab_fail(lab, LAB_FAILED, "a thread could not be started: %s", strerror(error));
            all->incomplete = true;
            pthread_mutex_unlock(&all->starting);
            join_and_free(all);
            return NULL;
        }
    }
    pthread_mutex_unlock(&all->starting);
    return all;
}

void *lab_workers_perform(lab_workers *workers, lab *lab, uint64_t operations, lab_work *work)
{
    void *failed = NULL;
    for (size_t i = 0; i < workers->count; i++) {
        lab_share *share = &workers->each[i].share;
        memset(share, 0, sizeof *share);
        share->first = i;
        share->step = workers->count;
        share->operations = operations;
    }
    pthread_barrier_wait(&workers->begin);
    pthread_barrier_wait(&workers->end);
    for (size_t i = 0; i < workers->count; i++) {
        worker *worker = &workers->each[i];
        if (worker->failed)
            failed = worker->data;
        work->check += worker->share.work.check;
        work->units += worker->share.work.units;
        lab_add_latencies(lab, &worker->share.latencies);
    }
    return failed;
}

void lab_workers_end(lab_workers *workers)
{
    if (workers == NULL)
        return;
    workers->ended = true;
    pthread_barrier_wait(&workers->begin);
    join_and_free(workers);
}
