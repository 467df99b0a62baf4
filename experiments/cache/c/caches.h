/* SPDX-License-Identifier: Apache-2.0
 *
 * The ways to share a map among threads that read it most of the time. Key k has the value k + 1. */
#ifndef CACHES_H
#define CACHES_H

#include "lab_kit.h"
#include "lab_workers.h"

/* One operation of a trace. */
typedef struct cache_access {
    uint64_t key;
    bool reads; /* else it puts */
} cache_access;

typedef struct cache cache;

typedef struct cache_scheme {
    const char *name;
    bool is_shared; /* may be written to while others use it */
    bool is_safe;   /* never loses an entry that is put */
    /* Does the share's operations on a trace of LAB_INPUTS accesses; the sum of the values that were read.
     * With a lap after each operation if `has_laps`. */
    uint64_t (*replay)(cache *cache, const cache_access *trace, lab_share *share, bool has_laps);
    uint64_t (*get)(cache *cache, uint64_t key); /* 0 if the key is not there */
    void (*put)(cache *cache, uint64_t key, uint64_t value);
} cache_scheme;

/* NULL: there is no such scheme. */
const cache_scheme *find_cache_scheme(const char *name);

/* A cache with the keys below `entries`. NULL: there is no memory. */
cache *cache_new(const cache_scheme *scheme, size_t entries);

/* Entries. No other thread uses the cache. */
size_t cache_size(cache *cache);

/* NULL is no cache. */
void cache_free(cache *cache);

#endif
