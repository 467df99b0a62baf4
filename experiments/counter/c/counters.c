/* SPDX-License-Identifier: Apache-2.0 */
#include "counters.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum {
    LINE = 128,   /* bytes; x86-64 fetches 64-byte cache lines in pairs */
    STRIPES = 16, /* a power of two */
};

/* A counter is accessed through a pointer, like a counter in an object. At a fixed address, an unsafe
 * increment takes eight times as long on a processor that renames memory operands (docs/results/counter.md). */

/* -- Unsafe: every increment is a read and a write of memory --------------------- */

typedef struct unsafe {
    _Alignas(LINE) volatile uint64_t total;
} unsafe;

static inline void unsafe_increment(unsafe *counter) { counter->total = counter->total + 1; }
static uint64_t unsafe_value(unsafe *counter) { return counter->total; }
static void unsafe_reset(unsafe *counter) { counter->total = 0; }

/* -- Unsafe and plain: the compiler may keep the value in a register ---------------------------------- */

typedef struct unsafe_plain {
    _Alignas(LINE) uint64_t total;
} unsafe_plain;

static inline void unsafe_plain_increment(unsafe_plain *counter) { counter->total++; }
static uint64_t unsafe_plain_value(unsafe_plain *counter) { return counter->total; }
static void unsafe_plain_reset(unsafe_plain *counter) { counter->total = 0; }

/* -- Atomic ------------------------------------------------------------------------------------ */

typedef struct atomic {
    _Alignas(LINE) _Atomic uint64_t total;
} atomic;

static inline void atomic_increment(atomic *counter)
{
    atomic_fetch_add_explicit(&counter->total, 1, memory_order_relaxed);
}
static uint64_t atomic_value(atomic *counter)
{
    return atomic_load_explicit(&counter->total, memory_order_relaxed);
}
static void atomic_reset(atomic *counter) { atomic_store(&counter->total, 0); }

/* -- Lock -------------------------------------------------------------------------------------- */

typedef struct lock {
    _Alignas(LINE) pthread_mutex_t mutex;
    uint64_t total;
} lock;

static inline void lock_increment(lock *counter)
{
    pthread_mutex_lock(&counter->mutex);
    counter->total++;
    pthread_mutex_unlock(&counter->mutex);
}
static uint64_t lock_value(lock *counter)
{
    pthread_mutex_lock(&counter->mutex);
    uint64_t value = counter->total;
    pthread_mutex_unlock(&counter->mutex);
    return value;
}
static void lock_reset(lock *counter) { counter->total = 0; }

/* -- Striped: an atomic word for each thread or group of threads --------------------------------------- */

typedef struct striped {
    atomic stripes[STRIPES];
} striped;

static _Atomic unsigned threads;
static _Thread_local unsigned thread; /* starting with 1 */

static inline atomic *stripe(striped *counter)
{
    if (thread == 0)
        thread = atomic_fetch_add(&threads, 1) + 1;
    return &counter->stripes[thread % STRIPES];
}

static inline void striped_increment(striped *counter) { atomic_increment(stripe(counter)); }
static uint64_t striped_value(striped *counter)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < STRIPES; i++)
        sum += atomic_value(&counter->stripes[i]);
    return sum;
}
static void striped_reset(striped *counter)
{
    for (size_t i = 0; i < STRIPES; i++)
        atomic_reset(&counter->stripes[i]);
}

/* -- Each scheme as a counter: the increment is inlined into its loops ------------------ */

#define SCHEME(NAME, IS_SAFE, ...)                                                 \
    static void NAME##_restart(void *object) { NAME##_reset(object); }             \
    static uint64_t NAME##_total(void *object) { return NAME##_value(object); }    \
    static void NAME##_increments(void *object, uint64_t times)                    \
    {                                                                              \
        for (uint64_t i = 0; i < times; i++)                                       \
            NAME##_increment(object);                                              \
    }                                                                              \
    static uint64_t NAME##_increments_and_reads(void *object, uint64_t times)      \
    {                                                                              \
        uint64_t before = 0, backwards = 0;                                        \
        for (uint64_t i = 0; i < times; i++) {                                     \
            NAME##_increment(object);                                              \
            for (int read = 0; read < READS; read++) {                             \
                uint64_t now = NAME##_value(object);                               \
                backwards += now < before;                                         \
                before = now;                                                      \
            }                                                                      \
        }                                                                          \
        return backwards;                                                          \
    }                                                                              \
    static NAME NAME##_object = {__VA_ARGS__};                                     \
    static const counter NAME##_counter = {                                        \
        #NAME, IS_SAFE, &NAME##_object, NAME##_restart,                            \
        NAME##_total, NAME##_increments, NAME##_increments_and_reads}

SCHEME(unsafe, false, 0);
SCHEME(unsafe_plain, false, 0);
SCHEME(atomic, true, 0);
SCHEME(lock, true, .mutex = PTHREAD_MUTEX_INITIALIZER);
SCHEME(striped, true, .stripes = {{0}});

const counter *const counters[] = {
    &unsafe_counter, &unsafe_plain_counter, &atomic_counter, &lock_counter, &striped_counter, NULL,
};

const counter *const without_safety = &unsafe_counter;
const counter *const with_safety = &atomic_counter;

void both_increments(void *safe, void *not_safe, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        atomic_increment(safe);
        unsafe_increment(not_safe);
    }
}
