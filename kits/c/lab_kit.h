/* SPDX-License-Identifier: Apache-2.0
 *
 * The subject protocol (docs/protocol.md) for C11 with GNU extensions on Linux. A program lists its cases in a table
 * and passes the table to lab_main, which communicates with benchlab until the end. */
#ifndef LAB_KIT_H
#define LAB_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum {
    LAB_INPUTS = 4096,     /* number of values of the seeded sequence */
    LAB_LINE_MAX = 65536,  /* maximum length of a line in bytes, without its LF */
};

/* The maximum number of operations in a batch: 2^53. */
#define LAB_OPERATIONS_MAX ((uint64_t)1 << 53)

/* The connection to benchlab: the arguments of the open case, and its reply. */
typedef struct lab lab;

/* The result of a batch. Both fields are initially 0. The case adds every value to check, modulo
 * 2^64, and the number of rows or bytes to units. */
typedef struct lab_work {
    uint64_t check;
    uint64_t units;
} lab_work;

/* One case. Each function gets the program's data. open and perform return true on success; before they return
 * false, they must call lab_fail. */
typedef struct lab_case {
    const char *name;
    /* Prepares the case. */
    bool (*open)(lab *lab, void *data);
    /* Does the given number of operations, from 1 to LAB_OPERATIONS_MAX, in a loop. This is the
     * measured code. Every call starts with the first input. NULL means that the case is a
     * server, which runs from its opening to its close and does no operations. */
    bool (*perform)(lab *lab, void *data, uint64_t operations, lab_work *work);
    /* Releases the resources of open, even if open failed. */
    void (*close)(void *data);
} lab_case;

/* Sends hello and serves the cases, and the built-in case noop, until quit or the end of the
 * input. `library` is the driver or library under test with its version. From this call on,
 * standard output of the program is redirected to standard error, so that it cannot corrupt
 * replies. Returns the program's exit status: 0, or 1 if memory or a file descriptor could not
 * be allocated. */
int lab_main(const char *subject, const char *library,
             const lab_case *cases, size_t count, void *data);

/* Returns the decoded argument `key` of the open command, valid until the case is closed, or
 * NULL. */
const char *lab_argument(const lab *lab, const char *key);

/* Gets the argument `key`. If it is missing, fails with the code usage. */
bool lab_text(lab *lab, const char *key, const char **text);

/* Gets the argument `key` as a decimal integer from least to most. If it is missing or invalid, fails with the
 * code usage. */
bool lab_integer(lab *lab, const char *key, uint64_t least, uint64_t most, uint64_t *number);

/* Adds a setting, as read back by the subject, to the reply to open. */
void lab_setting(lab *lab, const char *key, const char *value);

/* Adds a metric of the experiment to the reply to run. Call it from perform. The value must be
 * finite and its absolute value less than 10^17; 15 digits are reported. */
void lab_metric(lab *lab, const char *key, double value);

/* Lets a single-threaded server wait for commands itself; call it from open. The kit then calls `wait` instead of
 * waiting for a command, until the case is closed. `wait` serves requests, and returns when the descriptor
 * `commands` is readable. */
void lab_serve_while_waiting(lab *lab, void (*wait)(void *data, int commands));

/* Returns the first LAB_INPUTS values of the sequence for the seed of the open case. */
const uint64_t *lab_inputs(const lab *lab);

/* -- Latencies ---------------------------------------------------------------------------- */

enum { LAB_BUCKETS = 1920 }; /* the number of buckets for 64-bit latencies (docs/protocol.md) */

/* The latencies of one thread's operations in one batch. A case that does multiple operations concurrently
 * needs one lab_latencies for each thread, as lab_workers.h provides it. */
typedef struct lab_latencies {
    uint64_t start; /* start of the first operation, CLOCK_MONOTONIC in ns */
    uint64_t end;   /* end of the latest operation */
    uint64_t counts[LAB_BUCKETS];
} lab_latencies;

/* Returns CLOCK_MONOTONIC in ns. */
static inline uint64_t lab_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns the bucket of a latency, in HdrHistogram's layout with 64 sub-buckets. */
static inline size_t lab_bucket(uint64_t ns)
{
    if (ns < 64)
        return ns;
    unsigned exponent = 58 - (unsigned)__builtin_clzll(ns);
    return exponent * 32 + (ns >> exponent);
}

/* Starts a batch and its first operation. */
static inline void lab_start(lab_latencies *latencies)
{
    memset(latencies->counts, 0, sizeof latencies->counts);
    latencies->start = latencies->end = lab_clock();
}

/* Ends an operation, and starts the next one. */
static inline void lab_lap(lab_latencies *latencies)
{
    uint64_t now = lab_clock();
    latencies->counts[lab_bucket(now - latencies->end)]++;
    latencies->end = now;
}

/* Adds a thread's latencies to the latencies of the batch. Call it from the case's perform, after all threads
 * have finished. The batch then lasts from the first start to the last end. If there are no laps, the batch
 * reports no latencies. */
void lab_add_latencies(lab *lab, const lab_latencies *latencies);

/* -- Errors ------------------------------------------------------------------------------- */

/* The codes of an error reply. */
#define LAB_USAGE "usage"
#define LAB_UNSUPPORTED "unsupported"
#define LAB_FAILED "failed"

/* Makes the reply an error with one of the codes above and a message, which is truncated to 1,000 bytes.
 * Returns false, so that a function can return the result. */
bool lab_fail(lab *lab, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
