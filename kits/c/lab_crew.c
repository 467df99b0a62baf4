/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that meet the caller at two barriers: one begins a batch, the other one ends it. */
#define _GNU_SOURCE /* barriers */
#include "lab_crew.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct member {
    lab_crew *crew;
    void *data;
    pthread_t thread;
    bool failed;
    lab_share share;
} member;

struct lab_crew {
    lab_crew_work work;
    bool incomplete;           /* not all members could be started */
    bool dismissed;
    pthread_mutex_t gathering; /* held until all members are there, or are known not to be */
    pthread_barrier_t begin;
    pthread_barrier_t end;
    size_t size;
    member members[];
};

static void *serve(void *argument)
{
    member *self = argument;
    lab_crew *crew = self->crew;
    pthread_mutex_lock(&crew->gathering);
    pthread_mutex_unlock(&crew->gathering);
    if (crew->incomplete)
        return NULL;
    for (;;) {
        pthread_barrier_wait(&crew->begin);
        if (crew->dismissed)
            return NULL;
        lab_start(&self->share.latencies);
        self->failed = !crew->work(self->data, &self->share);
        pthread_barrier_wait(&crew->end);
    }
}

static void disband(lab_crew *crew)
{
    crew->incomplete = true;
    pthread_mutex_unlock(&crew->gathering);
    for (size_t i = 0; i < crew->size; i++)
        pthread_join(crew->members[i].thread, NULL);
    free(crew);
}

lab_crew *lab_crew_gather(lab *lab, size_t size, void *members, size_t width, lab_crew_work work)
{
    lab_crew *crew = calloc(1, sizeof *crew + size * sizeof *crew->members);
    if (crew == NULL) {
        lab_fail(lab, LAB_FAILED, "out of memory");
        return NULL;
    }
    crew->work = work;
    pthread_mutex_init(&crew->gathering, NULL);
    pthread_barrier_init(&crew->begin, NULL, (unsigned)size + 1);
    pthread_barrier_init(&crew->end, NULL, (unsigned)size + 1);
    pthread_mutex_lock(&crew->gathering);
    for (; crew->size < size; crew->size++) {
        member *member = &crew->members[crew->size];
        member->crew = crew;
        member->data = (char *)members + crew->size * width;
        int error = pthread_create(&member->thread, NULL, serve, member);
        if (error != 0) {
            lab_fail(lab, LAB_FAILED, "a thread could not be started: %s", strerror(error));
            disband(crew);
            return NULL;
        }
    }
    pthread_mutex_unlock(&crew->gathering);
    return crew;
}

void *lab_crew_perform(lab_crew *crew, lab *lab, uint64_t operations, lab_work *work)
{
    void *failed = NULL;
    for (size_t i = 0; i < crew->size; i++) {
        lab_share *share = &crew->members[i].share;
        share->first = i;
        share->step = crew->size;
        share->operations = operations;
        share->work = (lab_work){0};
    }
    pthread_barrier_wait(&crew->begin);
    pthread_barrier_wait(&crew->end);
    for (size_t i = 0; i < crew->size; i++) {
        member *member = &crew->members[i];
        if (member->failed)
            failed = member->data;
        work->check += member->share.work.check;
        work->units += member->share.work.units;
        lab_add_latencies(lab, &member->share.latencies);
    }
    return failed;
}

void lab_crew_dismiss(lab_crew *crew)
{
    if (crew == NULL)
        return;
    crew->dismissed = true;
    pthread_barrier_wait(&crew->begin);
    for (size_t i = 0; i < crew->size; i++)
        pthread_join(crew->members[i].thread, NULL);
    free(crew);
}
