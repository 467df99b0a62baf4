/* SPDX-License-Identifier: Apache-2.0
 *
 * Wrong on purpose: a stack of idle resources without a lock. Concurrent threads lease the same resource twice, or
 * lose one. */
#include "pool.h"

#include <sched.h>
#include <stdlib.h>

const char *const pool_subject = "c-unsafe";
const char *const pool_library = "no lock";

enum { YIELDS_MAX = 10000 };

struct pool {
    size_t size;
    volatile size_t idle;
    resource *resources;
    resource *volatile stack[];
};

pool *pool_make(size_t size, bool is_lifo)
{
    pool *pool = is_lifo ? calloc(1, sizeof *pool + size * sizeof *pool->stack) : NULL;
    if (pool == NULL)
        return NULL;
    pool->resources = aligned_alloc(_Alignof(resource), size * sizeof *pool->resources);
    if (pool->resources == NULL) {
        free(pool);
        return NULL;
    }
    pool->size = pool->idle = size;
    for (size_t i = 0; i < size; i++) {
        pool->stack[i] = &pool->resources[i];
        resource_make(&pool->resources[i]);
    }
    return pool;
}

resource *pool_lease(pool *pool)
{
    for (int yields = 0; yields < YIELDS_MAX; yields++) {
        size_t idle = pool->idle;
        if (idle > 0) {
            pool->idle = idle - 1;
            return pool->stack[idle - 1];
        }
        sched_yield();
    }
    return NULL;
}

void pool_release(pool *pool, resource *resource)
{
    size_t idle = pool->idle;
    if (idle == pool->size)
        return;
    pool->stack[idle] = resource;
    pool->idle = idle + 1;
}

size_t pool_idle(pool *pool)
{
    return pool->idle;
}

void pool_free(pool *pool)
{
    if (pool == NULL)
        return;
    free(pool->resources);
    free(pool);
}
