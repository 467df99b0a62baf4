/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool of resources. The C subjects only differ in its synchronization. */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RESOURCE_WORDS = 8192 }; /* 64 KiB */

typedef struct resource {
    _Alignas(128) bool is_held; /* lets a holder detect other holders */
    uint64_t uses;
    uint64_t words[RESOURCE_WORDS]; /* each is 1 */
} resource;

typedef struct pool pool;

/* The subject's name in the experiment, and a description of the pool's implementation. */
extern const char *const pool_subject;
extern const char *const pool_library;

/* Makes the resource idle and unused. */
static inline void resource_make(resource *resource)
{
    resource->is_held = false;
    resource->uses = 0;
    for (size_t i = 0; i < RESOURCE_WORDS; i++)
        resource->words[i] = 1;
}

/* Creates a pool of `size` resources. If `is_lifo` is true, the most recently returned resource is leased
 * first, otherwise the resource that has been idle longest. Returns NULL if out of memory. */
pool *pool_make(size_t size, bool is_lifo);

/* Waits for a resource. Returns NULL if the pool has no usable resources left. */
resource *pool_lease(pool *pool);

void pool_release(pool *pool, resource *resource);

/* Returns the number of idle resources. */
size_t pool_idle(pool *pool);

/* Frees a pool. NULL is ignored. */
void pool_free(pool *pool);

#endif
