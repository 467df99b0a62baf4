/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooled connections in C: a mutex and a condition variable guard connections that the SQL experiment's code
 * opens. */
#include "database.h"
#include "lab_kit.h"
#include "lab_workers.h"
#include "pool.h"

#include <stdio.h>
#include <string.h>

enum { THREADS_MAX = 256 };

typedef struct subject subject;

/* A thread that makes requests. */
typedef struct requester {
    subject *subject;
    const session *failed; /* the connection whose request failed, or NULL */
} requester;

/* The open case. All fields are zero while none is open. */
struct subject {
    pool pool;
    lab_workers *workers;
    requester requesters[THREADS_MAX];
};

/* Leases a connection for SELECT 1. Returns the connection if that failed, or NULL. */
static const session *request(pool *pool, lab_work *work)
{
    session *leased = pool_lease(pool);
    bool done = select_1(leased, work);
    pool_give_back(pool, leased);
    return done ? NULL : leased;
}

static void close_case(void *data)
{
    subject *subject = data;
    lab_workers_end(subject->workers);
    pool_close(&subject->pool);
    memset(subject, 0, sizeof *subject);
}

/* -- opened: a connection for each request -------------------------------------------------------- */

static bool opened_open(lab *lab, void *data)
{
    (void)data;
    if (!find_database(lab))
        return false;
    session *first = open_connection(lab);
    bool done = first != NULL && report_settings(lab, first);
    close_connection(first);
    return done;
}

static bool opened_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    (void)data;
    return open_for_each(lab, operations, work);
}

/* -- pooled: one thread ---------------------------------------------------------------------------- */

static bool pooled_open(lab *lab, void *data)
{
    pool *pool = &((subject *)data)->pool;
    if (!find_database(lab) || !pool_open(pool, lab))
        return false;
    session *leased = pool_lease(pool);
    bool done = report_settings(lab, leased);
    pool_give_back(pool, leased);
    return done;
}

static bool pooled_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    subject *subject = data;
    for (uint64_t k = 0; k < operations; k++) {
        const session *failed = request(&subject->pool, work);
        if (failed != NULL)
            return refuse_with(lab, failed);
    }
    return true;
}

/* -- shared: n threads ------------------------------------------------------------------------------ */

static bool make_requests(void *worker, lab_share *share)
{
    requester *self = worker;
    for (uint64_t k = share->first; k < share->operations; k += share->step) {
        self->failed = request(&self->subject->pool, &share->work);
        if (self->failed != NULL)
            return false;
        lab_lap(&share->latencies);
    }
    return true;
}

static bool shared_open(lab *lab, void *data)
{
    subject *subject = data;
    uint64_t threads;
    if (!lab_integer(lab, "threads", 1, THREADS_MAX, &threads) || !pooled_open(lab, subject))
        return false;
    for (uint64_t i = 0; i < threads; i++)
        subject->requesters[i].subject = subject;
    subject->workers =
        lab_workers_start(lab, threads, subject->requesters, sizeof *subject->requesters, make_requests);
    return subject->workers != NULL;
}

static bool shared_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    const requester *stopped = lab_workers_perform(((subject *)data)->workers, lab, operations, work);
    return stopped == NULL || refuse_with(lab, stopped->failed);
}

int main(void)
{
    static const lab_case cases[] = {
        {"opened", opened_open, opened_perform, close_case},
        {"pooled", pooled_open, pooled_perform, close_case},
        {"shared", shared_open, shared_perform, close_case},
    };
    static subject subject;
    char library[80];
    if (!lab_start_sleeper()) {
        fputs("a thread could not be started\n", stderr);
        return 1;
    }
    snprintf(library, sizeof library, "%s, POSIX threads", database_library());
    return lab_main("c", library, cases, sizeof cases / sizeof *cases, &subject);
}
