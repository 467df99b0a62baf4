/* SPDX-License-Identifier: Apache-2.0
 *
 * The pool experiment in C: the work of the holders, and the metrics of a batch. */
#include "lab_kit.h"
#include "lab_workers.h"
#include "pool.h"

#include <gnu/libc-version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    THREADS_MAX = 256,
    UNCONTENDED_SIZE = 8,
    HOLD_NS = 100000,
    FAILS_EVERY = 8,
};

typedef struct pool_case pool_case;

/* Uses a resource in operation k, and returns the value that the operation adds to the check. */
typedef uint64_t hold(const pool_case *self, const resource *resource, uint64_t k);

typedef struct thread {
    const pool_case *self;
    uint64_t operations; /* operations of the batch */
    uint64_t ns;         /* time from the first start to the last end */
    uint64_t over;       /* leases of resources that another thread held */
} thread;

struct pool_case {
    pool *pool;
    size_t size;
    hold *hold;
    uint64_t threads;
    thread *each;
    lab_workers *workers;
    uint8_t fails[LAB_INPUTS];
};

/* -- Holders ------------------------------------------------------------------------------ */

static uint64_t hold_nothing(const pool_case *self, const resource *resource, uint64_t k)
{
    (void)self, (void)resource, (void)k;
    return 1;
}

static uint64_t hold_a_while(const pool_case *self, const resource *resource, uint64_t k)
{
    (void)self, (void)resource, (void)k;
    for (uint64_t end = lab_clock() + HOLD_NS; lab_clock() < end;)
        ;
    return 1;
}

static uint64_t read_all(const pool_case *self, const resource *resource, uint64_t k)
{
    (void)self, (void)k;
    uint64_t sum = 0;
    for (size_t i = 0; i < RESOURCE_WORDS; i++)
        sum += resource->words[i];
    return sum;
}

/* Fails in some operations. C has no exceptions, so the failure is a return value, and the resource is
 * always released. */
static uint64_t fail_at_times(const pool_case *self, const resource *resource, uint64_t k)
{
    (void)resource;
    return self->fails[k % LAB_INPUTS] ? 2 : 1;
}

/* Does one operation. If all resources have been lost, the operation does nothing but still counts; the
 * metric `lost` reports the lost resources. */
static inline uint64_t operate(thread *thread, uint64_t k)
{
    const pool_case *self = thread->self;
    resource *resource = pool_lease(self->pool);
    if (resource == NULL)
        return 1;
    thread->over += resource->is_held;
    resource->is_held = true;
    resource->uses++;
    uint64_t value = self->hold(self, resource, k);
    resource->is_held = false;
    pool_release(self->pool, resource);
    return value;
}

static bool work(void *worker, lab_share *share)
{
    thread *thread = worker;
    for (uint64_t k = share->first; k < share->operations; k += share->step) {
        share->work.check += operate(thread, k);
        lab_lap(&share->latencies);
    }
    thread->operations = lab_share_size(share);
    thread->ns = share->latencies.end - share->latencies.start;
    share->work.units = thread->operations;
    return true;
}

/* -- Batches ------------------------------------------------------------------------------ */

/* Returns Jain's index of the threads' rates (Jain, Chiu, Hawe, DEC-TR-301, 1984), as a percentage. */
static double fairness(const pool_case *self)
{
    double sum = 0, squares = 0, working = 0;
    for (uint64_t c = 0; c < self->threads; c++)
        if (self->each[c].operations > 0) {
            double rate = (double)self->each[c].operations / (double)self->each[c].ns;
            sum += rate;
            squares += rate * rate;
            working++;
        }
    return 100 * sum * sum / (working * squares);
}

static void tell_metrics(lab *lab, const pool_case *self)
{
    uint64_t over = 0;
    for (uint64_t c = 0; c < self->threads; c++)
        over += self->each[c].over;
    lab_metric(lab, "fairness", fairness(self));
    lab_metric(lab, "over", (double)over);
    lab_metric(lab, "lost", (double)self->size - (double)pool_idle(self->pool));
}

static bool perform_together(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    pool_case *self = data;
    for (uint64_t c = 0; c < self->threads; c++)
        self->each[c] = (thread){.self = self};
    lab_workers_perform(self->workers, lab, operations, work);
    tell_metrics(lab, self);
    return true;
}

static bool perform_alone(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    (void)lab;
    pool_case *self = data;
    for (uint64_t k = 0; k < operations; k++)
        pool_release(self->pool, pool_lease(self->pool));
    work->check = work->units = operations;
    return true;
}

/* -- Opening ------------------------------------------------------------------------------ */

static bool make_pool(lab *lab, pool_case *self, size_t size, bool is_lifo)
{
    self->size = size;
    self->pool = pool_make(size, is_lifo);
    return self->pool != NULL || lab_fail(lab, is_lifo ? LAB_FAILED : LAB_UNSUPPORTED, "there is no such pool");
}

static bool start_threads(lab *lab, pool_case *self, hold *hold)
{
    self->hold = hold;
    self->each = calloc(self->threads, sizeof *self->each);
    if (self->each == NULL)
        return lab_fail(lab, LAB_FAILED, "out of memory");
    self->workers = lab_workers_start(lab, self->threads, self->each, sizeof *self->each, work);
    return self->workers != NULL;
}

static bool read_threads(lab *lab, pool_case *self)
{
    return lab_integer(lab, "threads", 1, THREADS_MAX, &self->threads);
}

static bool read_size(lab *lab, const pool_case *self, size_t *size)
{
    const char *word;
    if (!lab_text(lab, "size", &word))
        return false;
    *size = strcmp(word, "equal") == 0 ? self->threads
        : strcmp(word, "half") == 0 ? (self->threads + 1) / 2
        : strcmp(word, "eightfold") == 0 ? 8 * self->threads : 0;
    return *size > 0 || lab_fail(lab, LAB_UNSUPPORTED, "unknown size %s", word);
}

/* Opens the case uncontended with a second thread, which only sleeps. In a single-threaded process, glibc would lock
 * the mutex without an atomic instruction, unlike in a real pool. */
static bool open_uncontended(lab *lab, void *data)
{
    pool_case *self = data;
    self->threads = 1;
    return make_pool(lab, self, UNCONTENDED_SIZE, true) && start_threads(lab, self, hold_nothing);
}

static bool open_lease(lab *lab, void *data)
{
    pool_case *self = data;
    const char *word;
    size_t size;
    if (!read_threads(lab, self) || !read_size(lab, self, &size) || !lab_text(lab, "hold", &word))
        return false;
    hold *hold = strcmp(word, "0us") == 0 ? hold_nothing : strcmp(word, "100us") == 0 ? hold_a_while : NULL;
    if (hold == NULL)
        return lab_fail(lab, LAB_UNSUPPORTED, "unknown hold %s", word);
    return make_pool(lab, self, size, true) && start_threads(lab, self, hold);
}

static bool open_fail(lab *lab, void *data)
{
    pool_case *self = data;
    for (size_t i = 0; i < LAB_INPUTS; i++)
        self->fails[i] = lab_inputs(lab)[i] % FAILS_EVERY == 0;
    return read_threads(lab, self) && make_pool(lab, self, (self->threads + 1) / 2, true)
        && start_threads(lab, self, fail_at_times);
}

static bool open_reuse(lab *lab, void *data)
{
    pool_case *self = data;
    const char *word;
    if (!read_threads(lab, self) || !lab_text(lab, "reuse", &word))
        return false;
    if (strcmp(word, "lifo") != 0 && strcmp(word, "fifo") != 0)
        return lab_fail(lab, LAB_UNSUPPORTED, "unknown reuse %s", word);
    return make_pool(lab, self, 8 * self->threads, *word == 'l') && start_threads(lab, self, read_all);
}

static void close_case(void *data)
{
    pool_case *self = data;
    lab_workers_end(self->workers);
    pool_free(self->pool);
    free(self->each);
    memset(self, 0, sizeof *self);
}

int main(void)
{
    static const lab_case cases[] = {
        {"uncontended", open_uncontended, perform_alone, close_case},
        {"lease", open_lease, perform_together, close_case},
        {"fail", open_fail, perform_together, close_case},
        {"reuse", open_reuse, perform_together, close_case},
    };
    static pool_case open;
    char library[100];
    snprintf(library, sizeof library, "%s, glibc %s", pool_library, gnu_get_libc_version());
    return lab_main(pool_subject, library, cases, sizeof cases / sizeof *cases, &open);
}
