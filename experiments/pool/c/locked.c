/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool with a ring of idle resources, a mutex and a condition variable. */
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>

const char *const pool_subject = "c";
const char *const pool_library = "pthread mutex and condition variable";

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t released;
    bool is_lifo;
    size_t size;
    size_t first; /* the first idle resource in the ring */
    size_t idle;
    resource *resources;
    resource *ring[];
};

pool *pool_make(size_t size, bool is_lifo)
{
    pool *pool = calloc(1, sizeof *pool + size * sizeof *pool->ring);
    resource *resources = aligned_alloc(_Alignof(resource), size * sizeof *resources);
    if (pool == NULL || resources == NULL) {
        free(pool);
        free(resources);
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->released, NULL);
    pool->is_lifo = is_lifo;
    pool->size = pool->idle = size;
    pool->resources = resources;
    for (size_t i = 0; i < size; i++) {
        pool->ring[i] = &resources[i];
        resource_make(&resources[i]);
    }
    return pool;
}

static resource *take(pool *pool)
{
    pool->idle--;
    if (pool->is_lifo)
        return pool->ring[pool->idle];
    resource *longest = pool->ring[pool->first];
    pool->first = pool->first + 1 < pool->size ? pool->first + 1 : 0;
    return longest;
}

resource *pool_lease(pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->idle == 0)
        pthread_cond_wait(&pool->released, &pool->lock);
    resource *leased = take(pool);
    pthread_mutex_unlock(&pool->lock);
    return leased;
}

/* Puts the resource at the end of the ring. If the pool is a stack, `first` remains 0. */
void pool_release(pool *pool, resource *resource)
{
    pthread_mutex_lock(&pool->lock);
    size_t place = pool->first + pool->idle;
    pool->ring[place < pool->size ? place : place - pool->size] = resource;
    pool->idle++;
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_signal(&pool->released);
}

size_t pool_idle(pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    size_t idle = pool->idle;
    pthread_mutex_unlock(&pool->lock);
    return idle;
}

void pool_free(pool *pool)
{
    if (pool == NULL)
        return;
    pthread_cond_destroy(&pool->released);
    pthread_mutex_destroy(&pool->lock);
    free(pool->resources);
    free(pool);
}
