/* SPDX-License-Identifier: Apache-2.0
 *
 * The counter experiment in C: C11 atomics and POSIX threads. This is the reference for the other subjects. */
#include "counters.h"
#include "lab_kit.h"
#include "lab_workers.h"

#include <gnu/libc-version.h>
#include <stdio.h>

enum { THREADS_MAX = 1024 };

typedef struct subject {
    const counter *counter;
    lab_workers *workers;
} subject;

static bool start(lab *lab, subject *subject, lab_worker work)
{
    uint64_t threads;
    if (!lab_integer(lab, "threads", 1, THREADS_MAX, &threads))
        return false;
    subject->workers = lab_workers_start(lab, threads, subject, 0, work);
    return subject->workers != NULL;
}

static bool find_scheme(lab *lab, subject *subject)
{
    const char *scheme;
    if (!lab_text(lab, "scheme", &scheme))
        return false;
    for (const counter *const *each = counters; *each != NULL; each++) {
        subject->counter = *each;
        if (strcmp(subject->counter->scheme, scheme) == 0)
            return true;
    }
    return lab_fail(lab, LAB_UNSUPPORTED, "unknown scheme %s", scheme);
}

static void stop(void *data)
{
    subject *subject = data;
    lab_workers_end(subject->workers);
    subject->workers = NULL;
}

static uint64_t value(const counter *counter) { return counter->value(counter->object); }

static void tell_lost(lab *lab, const counter *counter, uint64_t operations)
{
    lab_metric(lab, "lost", 100.0 * (double)(operations - value(counter)) / (double)operations);
}

/* -- increment and read_mostly ------------------------------------------------------------ */

static bool increment(void *worker, lab_share *share)
{
    const counter *counter = ((const subject *)worker)->counter;
    counter->increments(counter->object, lab_share_size(share));
    return true;
}

static bool increment_and_read(void *worker, lab_share *share)
{
    const counter *counter = ((const subject *)worker)->counter;
    share->work.check = counter->increments_and_reads(counter->object, lab_share_size(share));
    return true;
}

static bool increment_open(lab *lab, void *data)
{
    return find_scheme(lab, data) && start(lab, data, increment);
}

static bool read_mostly_open(lab *lab, void *data)
{
    return find_scheme(lab, data) && start(lab, data, increment_and_read);
}

/* Counts in all threads. For a safe counter the check is its final value, and no read may return a lower
 * value than the previous read. */
static bool count(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    const subject *subject = data;
    const counter *counter = subject->counter;
    counter->reset(counter->object);
    lab_workers_perform(subject->workers, lab, operations, work);
    work->check = counter->is_safe ? work->check + value(counter) : operations;
    work->units = operations;
    tell_lost(lab, counter, operations);
    return true;
}

/* -- side_by_side ------------------------------------------------------------------------- */

static bool increment_both(void *worker, lab_share *share)
{
    (void)worker;
    both_increments(with_safety->object, without_safety->object, lab_share_size(share));
    return true;
}

static bool side_by_side_open(lab *lab, void *data)
{
    return start(lab, data, increment_both);
}

static bool count_both(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    const subject *subject = data;
    with_safety->reset(with_safety->object);
    without_safety->reset(without_safety->object);
    lab_workers_perform(subject->workers, lab, operations, work);
    work->check = value(with_safety);
    work->units = operations;
    tell_lost(lab, without_safety, operations);
    return true;
}

int main(void)
{
    static const lab_case cases[] = {
        {"increment", increment_open, count, stop},
        {"plain", increment_open, count, stop},
        {"read_mostly", read_mostly_open, count, stop},
        {"side_by_side", side_by_side_open, count_both, stop},
    };
    static subject subject;
    char library[64];
    snprintf(library, sizeof library, "C11 atomics, glibc %s", gnu_get_libc_version());
    return lab_main("c", library, cases, sizeof cases / sizeof *cases, &subject);
}
