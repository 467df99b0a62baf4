/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that synchronize with the caller at two barriers: one starts a batch, and the other one ends it. */
#define _GNU_SOURCE /* barriers */
#include "lab_workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct worker {
    lab_workers *group;
    void *data;
    pthread_t thread;
    bool failed;
    lab_share share;
} worker;

struct lab_workers {
    lab_worker work;
    bool incomplete;          /* not all threads could be started */
    bool ended;
    pthread_mutex_t starting; /* locked until all threads have started or one has failed */
    pthread_barrier_t begin;
    pthread_barrier_t end;
    size_t count;
    worker each[];
};

/* Performs a worker's share of a batch. If the worker records no laps, the share ends when `work` returns. */
static bool do_share(worker *self)
{
    lab_latencies *latencies = &self->share.latencies;
    if (lab_share_size(&self->share) == 0)
        return true;
    lab_start(latencies);
    bool succeeded = self->group->work(self->data, &self->share);
    if (latencies->end == latencies->start)
        latencies->end = lab_clock();
    return succeeded;
}

static void *serve(void *argument)
{
    worker *self = argument;
    lab_workers *group = self->group;
    pthread_mutex_lock(&group->starting);
    pthread_mutex_unlock(&group->starting);
    if (group->incomplete)
        return NULL;
    for (;;) {
        pthread_barrier_wait(&group->begin);
        if (group->ended)
            return NULL;
        self->failed = !do_share(self);
        pthread_barrier_wait(&group->end);
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
    lab_workers *group = calloc(1, sizeof *group + count * sizeof *group->each);
    if (group == NULL) {
        lab_fail(lab, LAB_FAILED, "out of memory");
        return NULL;
    }
    group->work = work;
    pthread_mutex_init(&group->starting, NULL);
    pthread_barrier_init(&group->begin, NULL, (unsigned)count + 1);
    pthread_barrier_init(&group->end, NULL, (unsigned)count + 1);
    pthread_mutex_lock(&group->starting);
    for (; group->count < count; group->count++) {
        worker *worker = &group->each[group->count];
        worker->group = group;
        worker->data = (char *)workers + group->count * width;
        int error = pthread_create(&worker->thread, NULL, serve, worker);
        if (error != 0) {
            lab_fail(lab, LAB_FAILED, "a thread could not be started: %s", strerror(error));
            group->incomplete = true;
            pthread_mutex_unlock(&group->starting);
            join_and_free(group);
            return NULL;
        }
    }
    pthread_mutex_unlock(&group->starting);
    return group;
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

static void *sleep_until_exit(void *argument)
{
    for (;;)
        pause();
    return argument;
}

bool lab_start_sleeper(void)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, sleep_until_exit, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 && pthread_detach(thread) == 0;
}
