/* SPDX-License-Identifier: Apache-2.0
 *
 * A subject whose cases reply with the input from the kit. The tests control it as benchlab would. */
#include "lab_kit.h"
#include "lab_workers.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct echo {
    char *allocated; /* makes leaks and double closes detectable */
    uint64_t fail_at;
    const uint64_t *inputs;
} echo;

static bool echo_open(lab *lab, void *data)
{
    echo *echo = data;
    const char *text;
    echo->allocated = malloc(16);
    if (!lab_text(lab, "text", &text) || !lab_integer(lab, "fail_at", 0, 1000, &echo->fail_at))
        return false;
    const char *more = lab_argument(lab, "more");
    lab_setting(lab, "text", text);
    lab_setting(lab, "more", more != NULL ? more : "(none)");
    echo->inputs = lab_inputs(lab);
    return true;
}

/* Sums the inputs; the operation fail_at, counted from 1, fails. */
static bool echo_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    const echo *echo = data;
    printf("torn"); /* an incomplete line of output must not corrupt the reply */
    for (uint64_t k = 0; k < operations; k++) {
        if (k + 1 == echo->fail_at)
            return lab_fail(lab, LAB_FAILED, "operation %" PRIu64 " failed: 100 %%", k + 1);
        work->check += echo->inputs[k % LAB_INPUTS];
        work->units += 2;
    }
    return true;
}

static void echo_close(void *data)
{
    echo *echo = data;
    free(echo->allocated);
    memset(echo, 0, sizeof *echo);
}

/* -- Workers ------------------------------------------------------------------------------ */

/* A worker sums the numbers of its operations; fail_at, counted from 1, fails. */
typedef struct counter {
    uint64_t fail_at;
    bool laps; /* true if it reports latencies */
} counter;

static lab_workers *workers;
static counter counters[64];

static bool count(void *worker, lab_share *share)
{
    const counter *counter = worker;
    for (uint64_t k = share->first; k < share->operations; k += share->step) {
        if (k + 1 == counter->fail_at)
            return false;
        share->work.check += k;
        if (counter->laps)
            lab_lap(&share->latencies);
    }
    share->work.units = lab_share_size(share);
    return true;
}

static bool workers_open(lab *lab, void *data)
{
    (void)data;
    uint64_t threads, fail_at, laps;
    if (!lab_integer(lab, "threads", 1, 64, &threads)
        || !lab_integer(lab, "fail_at", 0, 1000, &fail_at) || !lab_integer(lab, "laps", 0, 1, &laps))
        return false;
    for (size_t i = 0; i < 64; i++)
        counters[i] = (counter){fail_at, laps};
    workers = lab_workers_start(lab, threads, counters, sizeof *counters, count);
    return workers != NULL;
}

static bool workers_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    (void)data;
    counter *failed = lab_workers_perform(workers, lab, operations, work);
    return failed == NULL
        || lab_fail(lab, LAB_FAILED, "operation %" PRIu64 " failed", failed->fail_at);
}

static void workers_close(void *data)
{
    (void)data;
    lab_workers_end(workers);
    workers = NULL;
}

/* -- Metrics ------------------------------------------------------------------------------ */

static bool metrics_open(lab *lab, void *data)
{
    (void)data;
    lab_setting(lab, "setting", "longer than any metric's value, and than several of them together");
    return true;
}

/* Reports no metrics for one operation, and some for more operations. */
static bool metrics_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    (void)data, (void)work;
    if (operations == 1)
        return true;
    lab_metric(lab, "lost", 12.5);
    lab_metric(lab, "none", 0);
    lab_metric(lab, "small", -0.000012);
    lab_metric(lab, "large", 98765432109876544.0);
    return true;
}

static void metrics_close(void *data)
{
    (void)data;
}

/* -- Latencies ---------------------------------------------------------------------------- */

/* Replies with synthetic latencies of three threads: one whose operation took `ns`, one that started earlier and took
 * 1000 ns, and one that did nothing. */
static bool latency_open(lab *lab, void *data)
{
    return lab_integer(lab, "ns", 1, UINT64_MAX / 2, data);
}

static bool latency_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    static lab_latencies threads[3];
    uint64_t ns = *(uint64_t *)data;
    memset(threads, 0, sizeof threads);
    threads[0] = (lab_latencies){.start = 200, .end = 200 + ns};
    threads[0].counts[lab_bucket(ns)] = operations;
    threads[1] = (lab_latencies){.start = 100, .end = 1100};
    threads[1].counts[lab_bucket(1000)] = operations;
    threads[2] = (lab_latencies){.start = 1, .end = 1};
    for (size_t i = 0; i < 3; i++)
        lab_add_latencies(lab, &threads[i]);
    work->check = lab_bucket(0) + lab_bucket(UINT64_MAX);
    return true;
}

static void latency_close(void *data)
{
    (void)data;
}

/* -- A server ----------------------------------------------------------------------------- */

static int waits;

/* Serves no requests. Counts how often it was called. */
static void server_wait(void *data, int commands)
{
    (void)data;
    poll(&(struct pollfd){.fd = commands, .events = POLLIN}, 1, -1);
    waits++;
}

static bool server_open(lab *lab, void *data)
{
    (void)data;
    waits = 0;
    lab_setting(lab, "url", "http://127.0.0.1:0");
    lab_serve_while_waiting(lab, server_wait);
    return lab_integer(lab, "workers", 1, 64, &(uint64_t){0});
}

static void server_close(void *data)
{
    (void)data;
    fprintf(stderr, "waited %d times\n", waits);
}

int main(void)
{
    static const lab_case cases[] = {
        {"server", server_open, NULL, server_close},
        {"echo", echo_open, echo_perform, echo_close},
        {"workers", workers_open, workers_perform, workers_close},
        {"metrics", metrics_open, metrics_perform, metrics_close},
        {"latency", latency_open, latency_perform, latency_close},
    };
    static echo echo;
    return lab_main("echo", "no library 1.0", cases, sizeof cases / sizeof *cases, &echo);
}
