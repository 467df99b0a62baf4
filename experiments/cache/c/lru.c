/* SPDX-License-Identifier: Apache-2.0 */
#include "lru.h"

#include <pthread.h>
#include <stdlib.h>

/* An entry of the cache, which is identified by its index. Indices start at 1. Entry 0
   marks both ends of the list. */
typedef struct entry {
    uint64_t key, value;
    uint32_t next_in_chain, newer, older;
} entry;

struct lru {
    pthread_mutex_t mutex;
    size_t capacity, used;
    unsigned bits;
    uint32_t *chains; /* 2^bits first entries */
    entry entries[];
};

static uint32_t *chain_of(lru *cache, uint64_t key)
{
    return &cache->chains[(key * 0x9E3779B97F4A7C15) >> (64 - cache->bits)];
}

lru *lru_new(size_t capacity)
{
    unsigned bits = 4;
    while ((size_t)1 << bits < 2 * capacity)
        bits++;
    lru *cache = calloc(1, sizeof *cache + (capacity + 1) * sizeof(entry));
    uint32_t *chains = calloc((size_t)1 << bits, sizeof *chains);
    if (cache == NULL || chains == NULL) {
        free(cache);
        free(chains);
        return NULL;
    }
    pthread_mutex_init(&cache->mutex, NULL);
    cache->capacity = capacity;
    cache->bits = bits;
    cache->chains = chains;
    return cache;
}

static void link_newest(lru *cache, uint32_t at)
{
    entry *entries = cache->entries;
    entries[at].newer = 0;
    entries[at].older = entries[0].older; /* the newest one */
    entries[entries[0].older].newer = at;
    entries[0].older = at;
}

static void unlink_entry(lru *cache, uint32_t at)
{
    entry *entries = cache->entries;
    entries[entries[at].newer].older = entries[at].older;
    entries[entries[at].older].newer = entries[at].newer;
}

uint64_t lru_get(lru *cache, uint64_t key)
{
    pthread_mutex_lock(&cache->mutex);
    uint32_t at = *chain_of(cache, key);
    while (at != 0 && cache->entries[at].key != key)
        at = cache->entries[at].next_in_chain;
    uint64_t value = 0;
    if (at != 0) {
        unlink_entry(cache, at);
        link_newest(cache, at);
        value = cache->entries[at].value;
    }
    pthread_mutex_unlock(&cache->mutex);
    return value;
}

static uint32_t evict(lru *cache)
{
    uint32_t oldest = cache->entries[0].newer;
    uint32_t *link = chain_of(cache, cache->entries[oldest].key);
    while (*link != oldest)
        link = &cache->entries[*link].next_in_chain;
    *link = cache->entries[oldest].next_in_chain;
    unlink_entry(cache, oldest);
    return oldest;
}

void lru_put(lru *cache, uint64_t key, uint64_t value)
{
    pthread_mutex_lock(&cache->mutex);
    uint32_t at = cache->used < cache->capacity ? (uint32_t)++cache->used : evict(cache);
    uint32_t *chain = chain_of(cache, key);
    cache->entries[at].key = key;
    cache->entries[at].value = value;
    cache->entries[at].next_in_chain = *chain;
    *chain = at;
    link_newest(cache, at);
    pthread_mutex_unlock(&cache->mutex);
}

void lru_free(lru *cache)
{
    pthread_mutex_destroy(&cache->mutex);
    free(cache->chains);
    free(cache);
}
