/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool of resources, and the one thing in which the C subjects differ: how it is guarded. */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RESOURCE_WORDS = 8192 }; /* 64 KiB */

typedef struct resource {
    _Alignas(128) bool is_held; /* for the holder to see that it is alone */
    uint64_t uses;
    uint64_t words[RESOURCE_WORDS]; /* each is 1 */
} resource;

typedef struct pool pool;

/* What the experiment calls the subject, and what the pool is made of. */
extern const char *const pool_subject;
extern const char *const pool_library;

/* Makes it idle and unused. */
static inline void resource_make(resource *resource)
{
    resource->is_held = false;
    resource->uses = 0;
    for (size_t i = 0; i < RESOURCE_WORDS; i++)
        resource->words[i] = 1;
}

/* A pool of `size` resources. The one given back last is leased first, or else the one that is idle
 * for the longest time. NULL if there is no memory. */
pool *pool_make(size_t size, bool is_lifo);

/* Waits for a resource. NULL if the pool has lost all of them. */
resource *pool_lease(pool *pool);

void pool_release(pool *pool, resource *resource);

/* How many are idle. */
size_t pool_idle(pool *pool);

/* NULL is no pool. */
void pool_free(pool *pool);

#endif
