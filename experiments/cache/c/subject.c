/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache experiment in C: POSIX locks and liburcu. This is the reference for the other subjects. */
#include "caches.h"
#include "lab_kit.h"
#include "lab_workers.h"
#include "lru.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum {
    KEYS = 10000,           /* keys in read_only and read_mostly */
    ENTRIES_MAX = 1000000,  /* maximum in write; number of entries in wait */
    OLD_KEYS = 1000,        /* keys at the start of each operation of lost */
    NEW_KEYS = 1000,        /* keys that the operation adds */
    THREADS_MAX = 1024,
    REQUESTS = 50000,       /* in each operation of evict */
    CAPACITY = 1000,        /* entries of the cache in evict */
};

typedef struct subject {
    const cache_scheme *scheme;
    cache *cache;
    lab_workers *workers;
    cache_access trace[LAB_INPUTS];
    uint64_t requests[REQUESTS];
} subject;

/* Opens the cache. The unsynchronized map does not support writes. */
static bool open_cache(lab *lab, subject *subject, size_t entries, bool writes)
{
    const char *name;
    if (!lab_text(lab, "scheme", &name))
        return false;
    subject->scheme = find_cache_scheme(name);
    if (subject->scheme == NULL)
        return lab_fail(lab, LAB_UNSUPPORTED, "unknown scheme %s", name);
    if (writes && !subject->scheme->is_shared)
        return lab_fail(lab, LAB_UNSUPPORTED, "the map %s is read-only", name);
    subject->cache = cache_new(subject->scheme, entries);
    return subject->cache != NULL || lab_fail(lab, LAB_FAILED, "out of memory");
}

static bool start(lab *lab, subject *subject, lab_worker work)
{
    uint64_t threads;
    if (!lab_integer(lab, "threads", 1, THREADS_MAX, &threads))
        return false;
    subject->workers = lab_workers_start(lab, threads, subject, 0, work);
    return subject->workers != NULL;
}

static void close_case(void *data)
{
    subject *subject = data;
    lab_workers_end(subject->workers);
    cache_free(subject->cache);
    subject->workers = NULL;
    subject->cache = NULL;
}

static bool replay(void *worker, lab_share *share)
{
    const subject *subject = worker;
    share->work.check = subject->scheme->replay(subject->cache, subject->trace, share, false);
    share->work.units = lab_share_size(share);
    return true;
}

static bool perform_at_once(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    const subject *subject = data;
    lab_workers_perform(subject->workers, lab, operations, work);
    return true;
}

/* -- read_only and read_mostly ---------------------------------------------------------------- */

static uint64_t zipf_sums[KEYS];

static void make_zipf(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < KEYS; i++)
        zipf_sums[i] = sum += (UINT64_C(1) << 32) / (i + 1);
}

/* Draws a key from a Zipf distribution, in integer arithmetic: key i has the weight 2^32 / (i + 1). */
static uint64_t zipf_key(uint64_t input)
{
    size_t low = 0, high = KEYS - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (zipf_sums[middle] > input % zipf_sums[KEYS - 1])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void make_trace(lab *lab, subject *subject, uint64_t reads)
{
    make_zipf();
    for (size_t k = 0; k < LAB_INPUTS; k++) {
        uint64_t input = lab_inputs(lab)[k];
        subject->trace[k] = (cache_access){zipf_key(input), (input >> 32) % 100 < reads};
    }
}

static bool read_only_open(lab *lab, void *data)
{
    make_trace(lab, data, 100);
    return open_cache(lab, data, KEYS, false) && start(lab, data, replay);
}

static bool read_mostly_open(lab *lab, void *data)
{
    const char *reads;
    if (!lab_text(lab, "reads", &reads))
        return false;
    if (strcmp(reads, "99") != 0 && strcmp(reads, "90") != 0)
        return lab_fail(lab, LAB_UNSUPPORTED, "expected 99 or 90 %% reads, got %s", reads);
    make_trace(lab, data, reads[1] == '9' ? 99 : 90);
    return open_cache(lab, data, KEYS, true) && start(lab, data, replay);
}

/* -- write ------------------------------------------------------------------------------------ */

static void make_writes(lab *lab, subject *subject, uint64_t entries, bool reads)
{
    for (size_t k = 0; k < LAB_INPUTS; k++)
        subject->trace[k] = (cache_access){lab_inputs(lab)[k] % entries, reads};
}

static bool write_open(lab *lab, void *data)
{
    uint64_t entries;
    if (!lab_integer(lab, "entries", 1, ENTRIES_MAX, &entries))
        return false;
    make_writes(lab, data, entries, false);
    return open_cache(lab, data, entries, true);
}

/* Replaces entries. The check is the sum of the values written, plus the value found for the last key. */
static bool write_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    (void)lab;
    const subject *subject = data;
    lab_share share = {.first = 0, .step = 1, .operations = operations};
    subject->scheme->replay(subject->cache, subject->trace, &share, false);
    for (uint64_t k = 0; k < operations; k++)
        work->check += subject->trace[k % LAB_INPUTS].key + 1;
    work->check += subject->scheme->get(subject->cache, subject->trace[(operations - 1) % LAB_INPUTS].key);
    work->units = operations;
    return true;
}

/* -- wait: one thread reads while another one writes continuously ------------------------------- */

typedef struct writer {
    const subject *subject;
    atomic_bool begun;
    atomic_bool ends;
} writer;

static void *write_until_end(void *argument)
{
    writer *writer = argument;
    const subject *subject = writer->subject;
    atomic_store(&writer->begun, true);
    for (size_t k = 0; !atomic_load_explicit(&writer->ends, memory_order_relaxed); k++) {
        uint64_t key = subject->trace[k % LAB_INPUTS].key;
        subject->scheme->put(subject->cache, key, key + 1);
    }
    return NULL;
}

static bool read_with_laps(void *worker, lab_share *share)
{
    const subject *subject = worker;
    share->work.check = subject->scheme->replay(subject->cache, subject->trace, share, true);
    share->work.units = share->operations;
    return true;
}

static bool wait_open(lab *lab, void *data)
{
    subject *subject = data;
    make_writes(lab, subject, ENTRIES_MAX, true);
    if (!open_cache(lab, subject, ENTRIES_MAX, true))
        return false;
    subject->workers = lab_workers_start(lab, 1, subject, 0, read_with_laps);
    return subject->workers != NULL;
}

/* Resets the peak resident set size to the current size (proc(5), clear_refs). */
static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file != NULL) {
        fputs("5", file);
        fclose(file);
    }
}

/* Returns the peak resident set size in bytes, or 0 if the system does not report it. */
static double peak(void)
{
    char line[256];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmHWM: %" SCNu64, &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return 1024.0 * (double)kib;
}

static bool wait_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    writer writer = {.subject = data};
    pthread_t thread;
    reset_peak();
    if (pthread_create(&thread, NULL, write_until_end, &writer) != 0)
        return lab_fail(lab, LAB_FAILED, "a thread could not be started");
    while (!atomic_load(&writer.begun))
        usleep(10);
    lab_workers_perform(writer.subject->workers, lab, operations, work);
    atomic_store(&writer.ends, true);
    pthread_join(thread, NULL);
    lab_metric(lab, "peak", peak());
    return true;
}

/* -- lost: threads put 1,000 new keys into a map of 1,000 entries --------------------------------- */

static bool put_new_keys(void *worker, lab_share *share)
{
    const subject *subject = worker;
    for (uint64_t k = share->first; k < share->operations; k += share->step)
        subject->scheme->put(subject->cache, OLD_KEYS + k, OLD_KEYS + k + 1);
    return true;
}

static bool lost_open(lab *lab, void *data)
{
    return open_cache(lab, data, OLD_KEYS, true) && start(lab, data, put_new_keys);
}

/* Measures lost entries. For a safe scheme the check is the number of entries found. The metric is the
 * number of missing entries per 1,000. */
static bool lost_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    subject *subject = data;
    uint64_t found = 0;
    for (uint64_t k = 0; k < operations; k++) {
        cache_free(subject->cache);
        subject->cache = cache_new(subject->scheme, OLD_KEYS);
        if (subject->cache == NULL)
            return lab_fail(lab, LAB_FAILED, "out of memory");
        lab_workers_perform(subject->workers, lab, NEW_KEYS, work);
        found += cache_size(subject->cache) - OLD_KEYS;
    }
    work->units = operations * NEW_KEYS;
    work->check = subject->scheme->is_safe ? found : work->units;
    lab_metric(lab, "lost", (double)(work->units - found) / (double)operations);
    return true;
}

/* -- evict: each operation sends a trace of requests to a new, bounded cache ------------------------ */

/* Returns the value k of the seeded sequence, mixed so that the sequence does not repeat. */
static uint64_t evict_input(lab *lab, uint64_t k)
{
    uint64_t mixed = lab_inputs(lab)[k % LAB_INPUTS] + k / LAB_INPUTS * UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return mixed ^ mixed >> 27;
}

static bool evict_open(lab *lab, void *data)
{
    subject *subject = data;
    const char *name;
    if (!lab_text(lab, "trace", &name))
        return false;
    make_zipf();
    for (uint64_t k = 0; k < REQUESTS; k++) {
        uint64_t zipf = zipf_key(evict_input(lab, k));
        if (strcmp(name, "zipf") == 0)
            subject->requests[k] = zipf;
        else if (strcmp(name, "loop") == 0)
            subject->requests[k] = k % 1250;
        else if (strcmp(name, "scans") == 0)
            subject->requests[k] = k / 2000 % 2 == 0 ? zipf : 1000000 + k;
        else if (strcmp(name, "shifting") == 0)
            subject->requests[k] = 100000 * (k / 10000) + zipf;
        else
            return lab_fail(lab, LAB_UNSUPPORTED, "unknown trace %s", name);
    }
    return true;
}

/* Sends the requests of a trace to a new cache in each operation. The check is the sum of the values, which does not
 * depend on the eviction policy. */
static bool evict_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    const subject *subject = data;
    uint64_t misses = 0;
    for (uint64_t k = 0; k < operations; k++) {
        lru *cache = lru_new(CAPACITY);
        if (cache == NULL)
            return lab_fail(lab, LAB_FAILED, "out of memory");
        for (size_t i = 0; i < REQUESTS; i++) {
            uint64_t key = subject->requests[i], value = lru_get(cache, key);
            if (value == 0) {
                value = key + 1;
                lru_put(cache, key, value);
                misses++;
            }
            work->check += value;
        }
        lru_free(cache);
    }
    work->units = operations * REQUESTS;
    lab_metric(lab, "hit_rate", 100.0 * (double)(work->units - misses) / (double)work->units);
    return true;
}

int main(void)
{
    static const lab_case cases[] = {
        {"read_only", read_only_open, perform_at_once, close_case},
        {"read_mostly", read_mostly_open, perform_at_once, close_case},
        {"write", write_open, write_perform, close_case},
        {"wait", wait_open, wait_perform, close_case},
        {"lost", lost_open, lost_perform, close_case},
        {"evict", evict_open, evict_perform, close_case},
    };
    static subject subject;
    if (!lab_start_sleeper()) {
        fputs("a thread could not be started\n", stderr);
        return 1;
    }
    return lab_main("c", "POSIX threads, liburcu " LIBURCU_VERSION, cases,
                    sizeof cases / sizeof *cases, &subject);
}
