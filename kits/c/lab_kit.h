/* SPDX-License-Identifier: Apache-2.0
 *
 * The subject protocol (docs/protocol.md) for C11 with the GNU extensions on Linux: a program lists its cases in a table
 * and hands it to lab_main, which speaks to the lab until the end. */
#ifndef LAB_KIT_H
#define LAB_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum {
    LAB_INPUTS = 4096,     /* values of the seeded sequence that a case gets */
    LAB_LINE_MAX = 65536,  /* bytes of a line, without its LF */
};

/* The largest number of operations of a batch: 2^53. */
#define LAB_OPERATIONS_MAX ((uint64_t)1 << 53)

/* The conversation with the lab: the arguments of the open case, and its reply. */
typedef struct lab lab;

/* The result of a batch. Both begin as 0; the case adds every value to check, modulo 2^64, and
 * what it produced (rows, bytes) to units. */
typedef struct lab_work {
    uint64_t check;
    uint64_t units;
} lab_work;

/* One case. Each function gets the program's data. The first two return whether they
 * succeeded; if not, they have called lab_fail. */
typedef struct lab_case {
    const char *name;
    /* Prepares the case. */
    bool (*open)(lab *lab, void *data);
    /* Does the given number of operations, from 1 to LAB_OPERATIONS_MAX, in a loop of its own:
     * this is the measured part. Every call begins at the first input. NULL: the case is a server,
     * which serves from its opening to its close and does no operations. */
    bool (*perform)(lab *lab, void *data, uint64_t operations, lab_work *work);
    /* Releases what open took, also after an open that failed half-way. */
    void (*close)(void *data);
} lab_case;

/* Says hello and serves the cases, and the built-in case noop, until quit or the end of the
 * input. `library` names the driver or library under test with its version. From here on, what
 * the program prints to standard output goes to standard error, so that no reply is torn.
 * Returns the program's exit status: 0, or 1 if there was no memory or no descriptor. */
int lab_main(const char *subject, const char *library,
             const lab_case *cases, size_t count, void *data);

/* The decoded argument `key` of the open command, valid until the case is closed, or NULL. */
const char *lab_argument(const lab *lab, const char *key);

/* As lab_argument, but without the argument fails with the code usage. */
bool lab_text(lab *lab, const char *key, const char **text);

/* The argument `key` as a decimal integer from least to most; otherwise fails with usage. */
bool lab_integer(lab *lab, const char *key, uint64_t least, uint64_t most, uint64_t *number);

/* Adds a setting, as the subject read it back, to the reply to open. */
void lab_setting(lab *lab, const char *key, const char *value);

/* Adds a metric of the experiment to the reply to run; to be called from perform. The value is finite
 * and its absolute value less than 10^17; 15 digits are reported. */
void lab_metric(lab *lab, const char *key, double value);

/* For a server without a thread of its own, to be called from open: the kit calls `wait` whenever
 * it would wait for the lab, until the case is closed. `wait` serves, and returns once the
 * descriptor `commands` can be read. */
void lab_serve_while_waiting(lab *lab, void (*wait)(void *data, int commands));

/* The first LAB_INPUTS values of the sequence that the seed of the open case begins. */
const uint64_t *lab_inputs(const lab *lab);

/* -- Latencies ---------------------------------------------------------------------------- */

enum { LAB_BUCKETS = 1920 }; /* as many as latencies of 64 bits have (docs/protocol.md) */

/* The latencies of one thread's operations in one batch. A case that does several operations at
 * once keeps one of these for each of its threads; lab_workers.h does that for it. */
typedef struct lab_latencies {
    uint64_t start; /* of the first operation, CLOCK_MONOTONIC in ns */
    uint64_t end;   /* of the last one so far */
    uint64_t counts[LAB_BUCKETS];
} lab_latencies;

/* CLOCK_MONOTONIC in ns. */
static inline uint64_t lab_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The bucket in which a latency counts: HdrHistogram's layout with 64 sub-buckets. */
static inline size_t lab_bucket(uint64_t ns)
{
    if (ns < 64)
        return ns;
    unsigned exponent = 58 - (unsigned)__builtin_clzll(ns);
    return exponent * 32 + (ns >> exponent);
}

/* Begins a batch, with the first operation. */
static inline void lab_start(lab_latencies *latencies)
{
    memset(latencies->counts, 0, sizeof latencies->counts);
    latencies->start = latencies->end = lab_clock();
}

/* Ends an operation, and begins the next one. */
static inline void lab_lap(lab_latencies *latencies)
{
    uint64_t now = lab_clock();
    latencies->counts[lab_bucket(now - latencies->end)]++;
    latencies->end = now;
}

/* Adds a thread's latencies to those of the batch; to be called from the case's perform, once no
 * thread works any more. The batch then spans the first start to the last end. Without a single lap
 * the batch tells no latencies. */
void lab_add_latencies(lab *lab, const lab_latencies *latencies);

/* -- Errors ------------------------------------------------------------------------------- */

/* The codes of an error reply. */
#define LAB_USAGE "usage"
#define LAB_UNSUPPORTED "unsupported"
#define LAB_FAILED "failed"

/* Makes the reply an error with one of these codes and a message (of which 1,000 bytes are
 * kept). Returns false, so that a function can end with it. */
bool lab_fail(lab *lab, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
