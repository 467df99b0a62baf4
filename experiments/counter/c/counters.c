/* SPDX-License-Identifier: Apache-2.0 */
#include "counters.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum {
    LINE = 128,   /* bytes: cache lines of 64 are fetched in pairs on x86-64 */
    STRIPES = 16, /* a power of two */
};

/* -- Unsafe: every increment reads and writes memory, and is two accesses --------------------- */

static _Alignas(LINE) volatile uint64_t unsafe_total;

static inline void unsafe_increment(void) { unsafe_total = unsafe_total + 1; }
static uint64_t unsafe_value(void) { return unsafe_total; }
static void unsafe_reset(void) { unsafe_total = 0; }

/* -- Unsafe and plain: the compiler may keep it in a register ---------------------------------- */

static _Alignas(LINE) uint64_t unsafe_plain_total;

static inline void unsafe_plain_increment(void) { unsafe_plain_total++; }
static uint64_t unsafe_plain_value(void) { return unsafe_plain_total; }
static void unsafe_plain_reset(void) { unsafe_plain_total = 0; }

/* -- Atomic ------------------------------------------------------------------------------------ */

static _Alignas(LINE) _Atomic uint64_t atomic_total;

static inline void atomic_increment(void)
{
    atomic_fetch_add_explicit(&atomic_total, 1, memory_order_relaxed);
}
static uint64_t atomic_value(void)
{
    return atomic_load_explicit(&atomic_total, memory_order_relaxed);
}
static void atomic_reset(void) { atomic_store(&atomic_total, 0); }

/* -- Lock -------------------------------------------------------------------------------------- */

static _Alignas(LINE) struct {
    pthread_mutex_t mutex;
    uint64_t total;
} locked = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static inline void lock_increment(void)
{
    pthread_mutex_lock(&locked.mutex);
    locked.total++;
    pthread_mutex_unlock(&locked.mutex);
}
static uint64_t lock_value(void)
{
    pthread_mutex_lock(&locked.mutex);
    uint64_t value = locked.total;
    pthread_mutex_unlock(&locked.mutex);
    return value;
}
static void lock_reset(void) { locked.total = 0; }

/* -- Striped: an atomic word for each thread, or for some --------------------------------------- */

static struct {
    _Alignas(LINE) _Atomic uint64_t total;
} stripes[STRIPES];

static _Atomic unsigned threads;
static _Thread_local unsigned thread; /* from 1 */

static inline _Atomic uint64_t *stripe(void)
{
    if (thread == 0)
        thread = atomic_fetch_add(&threads, 1) + 1;
    return &stripes[thread % STRIPES].total;
}

static inline void striped_increment(void)
{
    atomic_fetch_add_explicit(stripe(), 1, memory_order_relaxed);
}
static uint64_t striped_value(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < STRIPES; i++)
        sum += atomic_load_explicit(&stripes[i].total, memory_order_relaxed);
    return sum;
}
static void striped_reset(void)
{
    for (size_t i = 0; i < STRIPES; i++)
        atomic_store(&stripes[i].total, 0);
}

/* -- Loops: one for each scheme, so that the increment is compiled into it ---------------------- */

#define LOOPS(SCHEME)                                                       \
    static void SCHEME##_increments(uint64_t times)                         \
    {                                                                       \
        for (uint64_t i = 0; i < times; i++)                                \
            SCHEME##_increment();                                           \
    }                                                                       \
    static uint64_t SCHEME##_increments_and_reads(uint64_t times)           \
    {                                                                       \
        uint64_t before = 0, backwards = 0;                                 \
        for (uint64_t i = 0; i < times; i++) {                              \
            SCHEME##_increment();                                           \
            for (int read = 0; read < READS; read++) {                      \
                uint64_t now = SCHEME##_value();                            \
                backwards += now < before;                                  \
                before = now;                                               \
            }                                                               \
        }                                                                   \
        return backwards;                                                   \
    }

#define COUNTER(NAME, IS_SAFE, SCHEME) \
    {NAME, IS_SAFE, SCHEME##_reset, SCHEME##_value, SCHEME##_increments, SCHEME##_increments_and_reads}

LOOPS(unsafe)
LOOPS(unsafe_plain)
LOOPS(atomic)
LOOPS(lock)
LOOPS(striped)

const counter counters[] = {
    COUNTER("unsafe", false, unsafe),
    COUNTER("unsafe_plain", false, unsafe_plain),
    COUNTER("atomic", true, atomic),
    COUNTER("lock", true, lock),
    COUNTER("striped", true, striped),
    {.scheme = NULL},
};

const counter *const unsafe_counter = &counters[0];
const counter *const safe_counter = &counters[2];

void both_increments(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        atomic_increment();
        unsafe_increment();
    }
}
