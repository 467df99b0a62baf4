/* SPDX-License-Identifier: Apache-2.0
 *
 * The schemes for sharing a read-mostly map between threads. Key k has the value k + 1. */
#ifndef CACHES_H
#define CACHES_H

#include "lab_kit.h"
#include "lab_workers.h"

/* One operation of a trace. */
typedef struct cache_access {
    uint64_t key;
    bool reads; /* otherwise the operation writes */
} cache_access;

typedef struct cache cache;

typedef struct cache_scheme {
    const char *name;
    bool is_shared; /* supports writes while other threads use the map */
    bool is_safe;   /* never loses an entry */
    /* Does a worker's share of the operations on a trace of LAB_INPUTS accesses. Returns the sum of the
     * values that were read. Calls lab_lap after each operation if `has_laps`. */
    uint64_t (*replay)(cache *cache, const cache_access *trace, lab_share *share, bool has_laps);
    uint64_t (*get)(cache *cache, uint64_t key); /* 0 if the key is missing */
    void (*put)(cache *cache, uint64_t key, uint64_t value);
} cache_scheme;

/* Returns the scheme that is called `name`, or NULL if there is none. */
const cache_scheme *find_cache_scheme(const char *name);

/* Creates a cache with the keys below `entries`. Returns NULL if out of memory. */
cache *cache_new(const cache_scheme *scheme, size_t entries);

/* Returns the number of entries. No other thread may use the cache. */
size_t cache_size(cache *cache);

/* Frees a cache. NULL is ignored. */
void cache_free(cache *cache);

#endif
